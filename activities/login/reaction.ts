import type { Page, Request } from 'playwright-core';

/** How long a page may take to start answering a press, in milliseconds; after that it has not reacted at all. */
const REACTION_STARTS_WITHIN_MS = 1500;
/** How long what it started may take, in milliseconds: a slow site's answer to a login. */
const REACTION_ENDS_WITHIN_MS = 30_000;
/** Requests that a login makes; pictures and styles say nothing of its outcome. */
const TELLING = new Set(['document', 'xhr', 'fetch']);

/**
 * Does `press` and waits until the page has answered it: the requests that it started have ended. A page that starts
 * none within a moment (a step that is shown by script alone) has answered too.
 */
export async function waitForRequestsToSettle(
  page: Page,
  press: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const pending = new Set<Request>();
  let started = 0;
  let wake = (): void => undefined;
  const onRequest = (request: Request): void => {
    if (!TELLING.has(request.resourceType())) return;
    pending.add(request);
    started += 1;
    wake();
  };
  const onEnd = (request: Request): void => {
    if (pending.delete(request)) wake();
  };
  // What a window that closes has asked for has no end.
  const onClose = (): void => {
    pending.clear();
    wake();
  };
  const context = page.context();
  page.once('close', onClose);
  context.on('request', onRequest);
  context.on('requestfinished', onEnd);
  context.on('requestfailed', onEnd);
  try {
    await press();
    await until(() => started > 0, REACTION_STARTS_WITHIN_MS);
    await until(() => pending.size === 0, REACTION_ENDS_WITHIN_MS);
  } finally {
    page.off('close', onClose);
    context.off('request', onRequest);
    context.off('requestfinished', onEnd);
    context.off('requestfailed', onEnd);
  }

  async function until(done: () => boolean, withinMs: number): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (!done() && Date.now() < deadline && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(250, Math.max(1, deadline - Date.now())));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
