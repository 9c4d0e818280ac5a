import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles `page/` for browsers. Rejects with the fault in its code. */
export default async function bundlePage(): Promise<{ script: string; style: string }> {
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
    target: ['chrome90', 'firefox90', 'safari14.1'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}
