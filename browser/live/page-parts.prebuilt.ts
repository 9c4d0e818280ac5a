import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The live view's script and style, as they stand in its HTML. */
export interface LivePageParts {
  script: string;
  style: string;
}

/** Bundles `page/` for browsers, in memory. */
export default async function bundleLivePage(): Promise<LivePageParts> {
  const [script, style] = await Promise.all([bundle('main.ts'), bundle('page.css')]);
  return { script, style };
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
  return outputFiles[0]?.text ?? '';
}
