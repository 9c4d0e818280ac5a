/** Why the wait for a quiet page ended. */
export type QuietEnd = 'quiet' | 'timeout';

/** Limits of the wait, in milliseconds. */
export interface QuietOptions {
  /** How long a loaded document must stand still. */
  readonly quietMs: number;
  readonly timeoutMs: number;
  /** Wait for a first change before that. */
  readonly change: boolean;
}

/** A document still waits for pictures or for somebody's analytics: it must stand still for longer. */
const WHILE_LOADING = 8;
/** A document that never stands still (a clock, an animation) is taken as it is after this many times `quietMs`. */
const RESTLESS = 15;

/**
 * Resolves when nothing in the document has changed for `quietMs`, or after `timeoutMs`. With `change` the first change is
 * awaited before that.
 */
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
      if (complete) restless ??= setTimeout(() => finish('quiet'), options.quietMs * RESTLESS);
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
