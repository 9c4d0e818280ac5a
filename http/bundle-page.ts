import { fileURLToPath } from 'node:url';

/** Script and styles of a page, to be inlined in its HTML. */
export interface PageBundle {
  script: string;
  style: string;
}

/** Browsers of phones that still get updates (2021 and later). */
const BROWSERS = ['chrome90', 'firefox90', 'safari14.1'];

/** Bundles `main.ts` and `page.css` of a folder in memory. Rejects with the compiler's error. */
export async function bundlePage(folder: URL): Promise<PageBundle> {
  // A role that serves prebuilt pages must not load the compiler.
  const { build } = await import('esbuild');
  const bundle = async (file: string): Promise<string> => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL(file, folder))],
      bundle: true,
      write: false,
      minify: true,
      format: 'iife',
      target: BROWSERS,
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
    });
    return outputFiles[0]?.text ?? '';
  };
  const [script, style] = await Promise.all([bundle('main.ts'), bundle('page.css')]);
  return { script, style };
}
