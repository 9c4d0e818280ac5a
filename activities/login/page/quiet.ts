/** Why the wait for a quiet page ended. */
export type QuietEnd = 'quiet' | 'timeout';

/**
 * Resolves when the document has loaded and nothing in it has changed for `quietMs`, or after `timeoutMs`. With `change` the
 * first change is awaited before that.
 */
export function waitQuiet(options: { quietMs: number; timeoutMs: number; change: boolean }): Promise<QuietEnd> {
  return new Promise((resolve) => {
    let changed = !options.change;
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const observer = new MutationObserver(() => {
      changed = true;
      restart();
    });

    const finish = (end: QuietEnd): void => {
      observer.disconnect();
      clearTimeout(quiet);
      clearTimeout(limit);
      document.removeEventListener('readystatechange', restart);
      resolve(end);
    };
    const restart = (): void => {
      clearTimeout(quiet);
      if (changed && document.readyState === 'complete') quiet = setTimeout(() => finish('quiet'), options.quietMs);
    };
    const limit = setTimeout(() => finish('timeout'), options.timeoutMs);

    observer.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
    for (const element of document.querySelectorAll('*')) {
      if (element.shadowRoot)
        observer.observe(element.shadowRoot, { childList: true, subtree: true, attributes: true });
    }
    document.addEventListener('readystatechange', restart);
    restart();
  });
}
