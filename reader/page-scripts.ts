import bundlePageScripts from './page-scripts.prebuilt.ts';

let bundled: ReturnType<typeof bundlePageScripts> | undefined;
const scripts = () => (bundled ??= bundlePageScripts());

/**
 * The script that runs inside a frame, as one expression that gives FrameFacts as JSON: many facts travel much faster
 * as one text. It is bundled once from the page-side sources; a string, because a serialized function would carry what the loader adds to functions.
 */
export function collectorScript(): string {
  return `(() => { ${scripts().collect} return pageSide.collectAsText(); })()`;
}

/** The script that waits for a quiet document, as one expression that gives a promise. */
export function quietScript(options: { quietMs: number; timeoutMs: number; change: boolean }): string {
  return `(() => { ${scripts().quiet} return pageSide.waitQuiet(${JSON.stringify(options)}); })()`;
}
