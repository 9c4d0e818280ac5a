import type { Frame, Page, Request, Response } from 'playwright-core';

/** What a page is made of; pictures, sounds and what is only told to the server change nothing that it asks. */
const MAKES_PAGE = new Set(['document', 'script', 'stylesheet', 'xhr', 'fetch']);
/** An answer of this kind has no end: the page is told of what happens for as long as it is open. */
const STREAM = 'text/event-stream';

const underWay = new WeakMap<Page, Set<Request>>();
/** Frames that have asked for another document and still show the one before. */
const leaving = new WeakMap<Frame, Request>();

/** Follows what a page asks its servers for, from now on. Once a page. */
export function trackRequests(page: Page): void {
  if (underWay.has(page)) return;
  const requests = new Set<Request>();
  underWay.set(page, requests);
  page.on('request', (request) => {
    if (MAKES_PAGE.has(request.resourceType())) requests.add(request);
    const frame = navigatedFrame(request);
    if (frame !== null) leaving.set(frame, request);
  });
  page.on('framenavigated', (frame) => leaving.delete(frame));
  page.on('requestfinished', (request) => requests.delete(request));
  page.on('requestfailed', (request) => {
    requests.delete(request);
    const frame = navigatedFrame(request);
    if (frame !== null && leaving.get(frame) === request) leaving.delete(frame);
  });
  page.on('response', (response) => {
    if (response.headers()['content-type']?.startsWith(STREAM) === true) requests.delete(response.request());
  });
}

/** True when a page waits for none of its servers; false of one that is not followed. */
export function isNetworkIdle(page: Page): boolean {
  return underWay.get(page)?.size === 0;
}

/** True when a page is known to wait for one of its servers; false of one that is not followed. */
export function hasRequestsInFlight(page: Page): boolean {
  return (underWay.get(page)?.size ?? 0) > 0;
}

/** What a page waits for now, to tell later what it has asked for since. None of one that is not followed. */
export function requestsInFlight(page: Page): ReadonlySet<Request> {
  return new Set(underWay.get(page));
}

/** The frame that a request brings another document; null of any other request, and of a window that is still to open. */
export function navigatedFrame(request: Request): Frame | null {
  if (!request.isNavigationRequest()) return null;
  try {
    return request.frame();
  } catch {
    return null;
  }
}

/** True while a frame, or one around it, has asked for another document that has not come yet. */
export function isNavigating(frame: Frame): boolean {
  const around = frame.parentFrame();
  return leaving.has(frame) || (around !== null && isNavigating(around));
}

/** How long a page may take to start answering a press, in milliseconds; after that it has not reacted at all. */
const REACTION_STARTS_WITHIN_MS = 1500;
/** How long what it started may take, in milliseconds: a slow site's answer to a login. */
const REACTION_ENDS_WITHIN_MS = 30_000;
/** Requests that a login makes; pictures and styles say nothing of its outcome. */
const TELLING = new Set(['document', 'xhr', 'fetch']);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

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
  const redirects = new WeakSet<Request>();
  let started = 0;
  const ledOn = new Set<Request>();
  let wake = (): void => undefined;
  const onRequest = (request: Request): void => {
    if (!TELLING.has(request.resourceType())) return;
    pending.add(request);
    started += 1;
    ledOn.clear();
    wake();
  };
  const onResponse = (response: Response): void => {
    if (REDIRECTS.has(response.status())) redirects.add(response.request());
  };
  const onEnd = (request: Request): void => {
    if (!pending.delete(request)) return;
    if (redirects.has(request)) ledOn.add(request);
    wake();
  };
  // What a window that closes has asked for has no end.
  const onClose = (): void => {
    pending.clear();
    ledOn.clear();
    wake();
  };
  const onOpened = (opened: Page): void => {
    opened.once('close', () => {
      for (const request of pending) if (isOfClosed(request)) onEnd(request);
    });
  };
  const context = page.context();
  page.once('close', onClose);
  context.on('page', onOpened);
  context.on('request', onRequest);
  context.on('response', onResponse);
  context.on('requestfinished', onEnd);
  context.on('requestfailed', onEnd);
  try {
    await press();
    await until(() => started > 0, REACTION_STARTS_WITHIN_MS);
    const end = Date.now() + REACTION_ENDS_WITHIN_MS;
    do {
      await until(() => pending.size === 0, end - Date.now());
      // The request that a redirect leads to is told of after the end of the one before.
      if (ledOn.size > 0) await until(() => ledOn.size === 0, REACTION_STARTS_WITHIN_MS);
    } while (pending.size > 0 && Date.now() < end && !signal.aborted);
  } finally {
    page.off('close', onClose);
    context.off('page', onOpened);
    context.off('request', onRequest);
    context.off('response', onResponse);
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

/** True of what a window has asked for that is no more, or has not come to be. */
function isOfClosed(request: Request): boolean {
  try {
    return request.frame().page().isClosed();
  } catch {
    return true;
  }
}
