import type { Frame, Page, Request } from 'playwright-core';

/** What a page is made of; pictures, sounds and what is only told to the server change nothing that it asks. */
const MAKES_PAGE = new Set(['document', 'script', 'stylesheet', 'xhr', 'fetch']);
/** An answer of this kind has no end: the page is told of what happens for as long as it is open. */
const STREAM = 'text/event-stream';

const underWay = new WeakMap<Page, Set<Request>>();
/** Frames that have asked for another document and still show the one before. */
const leaving = new WeakMap<Frame, Request>();

/** Follows what a page asks its servers for, from now on. Once a page. */
export function followTraffic(page: Page): void {
  if (underWay.has(page)) return;
  const requests = new Set<Request>();
  underWay.set(page, requests);
  page.on('request', (request) => {
    if (MAKES_PAGE.has(request.resourceType())) requests.add(request);
    const frame = navigatedBy(request);
    if (frame !== null) leaving.set(frame, request);
  });
  page.on('framenavigated', (frame) => leaving.delete(frame));
  page.on('requestfinished', (request) => requests.delete(request));
  page.on('requestfailed', (request) => {
    requests.delete(request);
    const frame = navigatedBy(request);
    if (frame !== null && leaving.get(frame) === request) leaving.delete(frame);
  });
  page.on('response', (response) => {
    if (response.headers()['content-type']?.startsWith(STREAM) === true) requests.delete(response.request());
  });
}

/** True when a page waits for none of its servers; false of one that is not followed. */
export function isTrafficOver(page: Page): boolean {
  return underWay.get(page)?.size === 0;
}

/** True when a page is known to wait for one of its servers; false of one that is not followed. */
export function asksServer(page: Page): boolean {
  return (underWay.get(page)?.size ?? 0) > 0;
}

/** What a page waits for now, to tell later what it has asked for since. None of one that is not followed. */
export function requestsUnderWay(page: Page): ReadonlySet<Request> {
  return new Set(underWay.get(page));
}

/** The frame that a request brings another document; null of any other request, and of a window that is still to open. */
export function navigatedBy(request: Request): Frame | null {
  if (!request.isNavigationRequest()) return null;
  try {
    return request.frame();
  } catch {
    return null;
  }
}

/** True while a frame, or one around it, has asked for another document that has not come yet. */
export function isLeaving(frame: Frame): boolean {
  const around = frame.parentFrame();
  return leaving.has(frame) || (around !== null && isLeaving(around));
}
