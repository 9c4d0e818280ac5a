import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The live view's script and style, as they stand in its HTML. */
export interface LivePageParts {
  script: string;
  style: string;
}

let parts: Promise<LivePageParts> | null = null;

/** Bundles `page/` for browsers, in memory, once per process and when it is first asked for. */
export function buildLivePage(): Promise<LivePageParts> {
  parts ??= Promise.all([bundle('main.ts'), bundle('page.css')]).then(
    ([script, style]) => ({ script, style }),
    (error: unknown) => {
      parts = null;
      throw error;
    },
  );
  return parts;
}

async function bundle(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`page/${file}`, import.meta.url))],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    // Phones that still get browser updates (2021 and later).
    target: ['chrome90', 'firefox90', 'safari15.4'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild made nothing of the live view's ${file}`);
  return output.text;
}
