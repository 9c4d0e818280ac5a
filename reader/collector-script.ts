import { buildSync } from 'esbuild';
import { join } from 'node:path';

let built: string | undefined;
let quiet: string | undefined;

/**
 * The script that runs inside a frame, as one expression that gives FrameFacts. It is bundled once per process from the
 * page-side sources; a string, because a serialized function would carry what the loader adds to functions.
 */
export function collectorScript(): string {
  built ??= `(() => { ${bundle('collect.ts')} return pageSide.collect(); })()`;
  return built;
}

/** The script that waits for a quiet document, as one expression that gives a promise. */
export function quietScript(options: { quietMs: number; timeoutMs: number; change: boolean }): string {
  quiet ??= bundle('quiet.ts');
  return `(() => { ${quiet} return pageSide.waitQuiet(${JSON.stringify(options)}); })()`;
}

/** Bundles one page-side source as an IIFE that defines `pageSide`. */
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
