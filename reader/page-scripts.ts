import bundlePageScripts from './page-scripts.prebuilt.ts';

let bundled: ReturnType<typeof bundlePageScripts> | undefined;
const scripts = () => (bundled ??= bundlePageScripts());

/**
 * The script that collects a frame's facts: an expression that evaluates to FrameFacts as JSON, which is transferred much faster than
 * objects. A string, because a serialized function would include the loader's helpers.
 */
export function collectorScript(): string {
  return `(() => { ${scripts().collect} return pageSide.collectAsText(); })()`;
}

/** The script that waits until the document is quiet: an expression that evaluates to a promise. */
export function quietScript(options: { quietMs: number; timeoutMs: number; change: boolean }): string {
  return `(() => { ${scripts().quiet} return pageSide.waitQuiet(${JSON.stringify(options)}); })()`;
}
