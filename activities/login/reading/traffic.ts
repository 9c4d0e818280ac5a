import type { Frame, Page, Request, Response } from 'playwright-core';

/** Resource types that affect what a page asks for; images, media, and beacons do not. */
const RELEVANT_TYPES = new Set(['document', 'script', 'stylesheet', 'xhr', 'fetch']);
/** A response of this type does not end while the page is open. */
const STREAM = 'text/event-stream';
/**
 * How long after its response a script's request still counts, in milliseconds: the browser reports no end of one whose body the
 * script does not read, as for `if (!response.ok)`.
 */
const BODY_TIMEOUT_MS = 1_000;

const inFlight = new WeakMap<Page, Set<Request>>();
/** Frames with a pending navigation, which still show the previous document. */
const navigating = new WeakMap<Frame, Request>();

/** Tracks a page's requests from now on. Idempotent. */
export function trackRequests(page: Page): void {
  if (inFlight.has(page)) return;
  const requests = new Set<Request>();
  inFlight.set(page, requests);
  page.on('request', (request) => {
    if (RELEVANT_TYPES.has(request.resourceType())) requests.add(request);
    const frame = navigatedFrame(request);
    if (frame !== null) navigating.set(frame, request);
  });
  page.on('framenavigated', (frame) => navigating.delete(frame));
  page.on('requestfinished', (request) => requests.delete(request));
  page.on('requestfailed', (request) => {
    requests.delete(request);
    const frame = navigatedFrame(request);
    if (frame !== null && navigating.get(frame) === request) navigating.delete(frame);
  });
  page.on('response', (response) => {
    if (response.headers()['content-type']?.startsWith(STREAM) === true) requests.delete(response.request());
    endWithoutBody(response, (request) => requests.delete(request));
  });
}

/** Calls `onEnd` for a script's request whose body may remain unread. */
function endWithoutBody(response: Response, onEnd: (request: Request) => void): void {
  const request = response.request();
  if (request.resourceType() === 'fetch') setTimeout(() => onEnd(request), BODY_TIMEOUT_MS).unref();
}

/** Whether a tracked page has no requests in flight. */
export function isNetworkIdle(page: Page): boolean {
  return inFlight.get(page)?.size === 0;
}

/** Whether a tracked page has requests in flight. */
export function hasRequestsInFlight(page: Page): boolean {
  return (inFlight.get(page)?.size ?? 0) > 0;
}

/** A snapshot of a page's requests in flight; empty if it is not tracked. */
export function requestsInFlight(page: Page): ReadonlySet<Request> {
  return new Set(inFlight.get(page));
}

/** The frame that a request navigates; null for other requests, and for a window that has not opened yet. */
export function navigatedFrame(request: Request): Frame | null {
  if (!request.isNavigationRequest()) return null;
  try {
    return request.frame();
  } catch {
    return null;
  }
}

/** Whether a frame or one of its ancestors has a pending navigation. */
export function isNavigating(frame: Frame): boolean {
  const parent = frame.parentFrame();
  return navigating.has(frame) || (parent !== null && isNavigating(parent));
}

/** How long a page may take to send its first request after an action, in milliseconds. */
const START_TIMEOUT_MS = 1500;
/** How long its requests may take, in milliseconds: a slow site's response to a login. */
const SETTLE_TIMEOUT_MS = 30_000;
/** Resource types that submit a login; images and styles do not affect its outcome. */
const SUBMITTING_TYPES = new Set(['document', 'xhr', 'fetch']);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Performs an action and waits until its requests have ended; only a moment if it starts none, as when a script shows the next step. */
export async function waitForRequestsToSettle(
  page: Page,
  press: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const pending = new Set<Request>();
  const redirects = new WeakSet<Request>();
  let started = 0;
  /** Redirected requests whose next request has not started yet. */
  const redirected = new Set<Request>();
  let wake = (): void => undefined;
  const onRequest = (request: Request): void => {
    if (!SUBMITTING_TYPES.has(request.resourceType())) return;
    pending.add(request);
    started += 1;
    redirected.clear();
    wake();
  };
  const onResponse = (response: Response): void => {
    if (REDIRECTS.has(response.status())) redirects.add(response.request());
    else endWithoutBody(response, onEnd);
  };
  const onEnd = (request: Request): void => {
    if (!pending.delete(request)) return;
    if (redirects.has(request)) redirected.add(request);
    wake();
  };
  // Requests of a closed window never end.
  const onClose = (): void => {
    pending.clear();
    redirected.clear();
    wake();
  };
  const onOpened = (opened: Page): void => {
    opened.once('close', () => {
      for (const request of pending) if (isFromClosedPage(request)) onEnd(request);
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
    await until(() => started > 0, START_TIMEOUT_MS);
    const end = Date.now() + SETTLE_TIMEOUT_MS;
    do {
      await until(() => pending.size === 0, end - Date.now());
      // The event for a redirect's next request comes after the end of the previous one.
      if (redirected.size > 0) await until(() => redirected.size === 0, START_TIMEOUT_MS);
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

/** Whether a request belongs to a window that is closed or was never opened. */
function isFromClosedPage(request: Request): boolean {
  try {
    return request.frame().page().isClosed();
  } catch {
    return true;
  }
}
