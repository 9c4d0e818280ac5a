/** Why the wait for a quiet page ended. */
type QuietEnd = 'quiet' | 'timeout';

/** Durations in milliseconds. */
interface QuietOptions {
  /** How long a loaded document must not change. */
  readonly quietMs: number;
  readonly timeoutMs: number;
  /** Whether to wait for a first change. */
  readonly change: boolean;
}

/** While images or analytics are still loading, the document must be quiet this many times longer. */
const WHILE_LOADING = 8;
/** A document that keeps changing (a clock, an animation) is read after this many times `quietMs`. */
const KEEPS_CHANGING = 15;

/** Resolves when the document has not changed for `quietMs`, with `change` only after a first change, or after `timeoutMs`. */
export function waitQuiet(options: QuietOptions): Promise<QuietEnd> {
  return new Promise((resolve) => {
    let changed = !options.change;
    let quiet: ReturnType<typeof setTimeout> | undefined;
    let restless: ReturnType<typeof setTimeout> | undefined;
    const observer = new MutationObserver(() => {
      changed = true;
      restart();
    });

    const finish = (end: QuietEnd): void => {
      observer.disconnect();
      clearTimeout(quiet);
      clearTimeout(restless);
      clearTimeout(limit);
      document.removeEventListener('readystatechange', restart);
      resolve(end);
    };
    const restart = (): void => {
      clearTimeout(quiet);
      if (!changed || document.readyState === 'loading') return;
      const complete = document.readyState === 'complete';
      quiet = setTimeout(() => finish('quiet'), complete ? options.quietMs : options.quietMs * WHILE_LOADING);
      if (complete) restless ??= setTimeout(() => finish('quiet'), options.quietMs * KEEPS_CHANGING);
    };
    const limit = setTimeout(() => finish('timeout'), options.timeoutMs);

    const what = { childList: true, subtree: true, attributes: true, characterData: true };
    observer.observe(document, what);
    for (const element of document.querySelectorAll('*')) {
      if (element.shadowRoot) observer.observe(element.shadowRoot, what);
    }
    document.addEventListener('readystatechange', restart);
    restart();
  });
}
