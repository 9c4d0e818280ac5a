import type { ElementHandle, Frame, Locator, Page } from 'playwright-core';
import type { InputTarget } from '../../../browser-client/computer.ts';
import type { BrowserService } from '../../../browser-client/service.ts';
import { failure } from '../../activity.ts';

/** How long an element that was read a moment ago may take to reappear, in milliseconds. */
export const FIND_TIMEOUT_MS = 5000;

/** Locates an element: its selector, and those of the frames that contain it, outermost first. */
export interface ElementPath {
  selector: string;
  frame: string[];
}

/** A page, and the mouse and keyboard of its session. */
export interface PageInput {
  page: Page;
  service: BrowserService;
  computer: InputTarget;
}

/** The frame that contains an element. */
export async function resolveFrame(page: Page, place: ElementPath): Promise<Frame> {
  return (await resolveFramePath(page, place)).frame;
}

/** The frame that contains an element, and the elements of the frames on the path, outermost first. */
export async function resolveFramePath(
  page: Page,
  place: ElementPath,
): Promise<{ frame: Frame; frameElements: ElementHandle<Element>[] }> {
  let frame = page.mainFrame();
  const frameElements: ElementHandle<Element>[] = [];
  for (const selector of place.frame) {
    const handle = await frame
      .waitForSelector(selector, { state: 'attached', timeout: FIND_TIMEOUT_MS })
      .catch(() => null);
    const inner = await handle?.contentFrame();
    if (handle === null || inner === null || inner === undefined)
      throw failure('element_not_found', 'a frame of the login form is gone', true);
    frame = inner;
    frameElements.push(handle);
  }
  return { frame, frameElements };
}

/** The first element that matches a selector, once it is attached. */
export async function locateAttached(frame: Frame, selector: string): Promise<Locator> {
  const locator = frame.locator(selector).first();
  await locator.waitFor({ state: 'attached', timeout: FIND_TIMEOUT_MS }).catch(() => {
    throw elementGone();
  });
  return locator;
}

/** The same as a handle, which does not follow an element that is rendered in its place. */
export async function findElement(frame: Frame, selector: string): Promise<ElementHandle<Element>> {
  const found = frame.waitForSelector(selector, { state: 'attached', timeout: FIND_TIMEOUT_MS });
  return await found.catch(() => {
    throw elementGone();
  });
}

/** Scrolls an element into view and waits until it is stable. */
export async function scrollTo(element: Locator | ElementHandle): Promise<void> {
  await element.scrollIntoViewIfNeeded({ timeout: FIND_TIMEOUT_MS }).catch(() => undefined);
}

/** Fails an entry because an element that was read before no longer exists. */
export function elementGone(): Error {
  return failure('element_not_found', 'an element of the login form is gone', true);
}

/** A point in CSS pixels of the viewport. */
export interface Point {
  x: number;
  y: number;
}

/** Where to click an element, from its bounding box and a point in it; null if there is no such point. */
export async function pointOf(
  boxOf: Promise<(Point & { width: number; height: number }) | null>,
  spotIn: Promise<Point | null>,
): Promise<Point | null> {
  const [box, spot] = await Promise.all([boxOf, spotIn]);
  if (box === null || box.width < 1 || box.height < 1) return null;
  return spot === null ? null : { x: Math.round(box.x + spot.x), y: Math.round(box.y + spot.y) };
}
