import { buildSync } from 'esbuild';
import { join } from 'node:path';

/** Bundles the scripts that run inside pages. Each is an IIFE that defines `pageSide`. */
export default function bundlePageScripts(): { collect: string; quiet: string } {
  return { collect: bundle('collect.ts'), quiet: bundle('quiet.ts') };
}

function bundle(source: string): string {
  const result = buildSync({
    entryPoints: [join(import.meta.dirname, 'page', source)],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'pageSide',
    target: 'chrome110',
    charset: 'ascii',
    minify: true,
    tsconfigRaw: {},
  });
  return result.outputFiles[0]?.text ?? '';
}
