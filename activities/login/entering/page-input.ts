import type { ElementHandle, Frame, Locator, Page } from 'playwright-core';
import type { InputTarget } from '../../../browser-client/computer.ts';
import type { BrowserService } from '../../../browser-client/service.ts';
import { failure } from '../../activity.ts';

/** How long an element that was read a moment ago may take to be there again, in milliseconds. */
export const FIND_TIMEOUT_MS = 5000;

/** A place on a page: its selector and the frames that lead to it. */
export interface Place {
  selector: string;
  frame: string[];
}

/** What filling needs: the page to look at, and the session's mouse and keyboard. */
export interface PageInput {
  page: Page;
  service: BrowserService;
  computer: InputTarget;
}

/** The frame that holds a place. */
export async function resolveFrame(page: Page, place: Place): Promise<Frame> {
  return (await resolveFramePath(page, place)).frame;
}

/** The frame that holds a place, and the elements of the frames that lead to it, outermost first. */
export async function resolveFramePath(
  page: Page,
  place: Place,
): Promise<{ frame: Frame; around: ElementHandle<Element>[] }> {
  let frame = page.mainFrame();
  const around: ElementHandle<Element>[] = [];
  for (const selector of place.frame) {
    const handle = await frame
      .waitForSelector(selector, { state: 'attached', timeout: FIND_TIMEOUT_MS })
      .catch(() => null);
    const inner = await handle?.contentFrame();
    if (handle === null || inner === null || inner === undefined)
      throw failure('element_not_found', 'a frame of the login form is gone', true);
    frame = inner;
    around.push(handle);
  }
  return { frame, around };
}

/** The element at a selector, once it is there. */
export async function locateAttached(frame: Frame, selector: string): Promise<Locator> {
  const locator = frame.locator(selector).first();
  await locator.waitFor({ state: 'attached', timeout: FIND_TIMEOUT_MS }).catch(() => {
    throw elementGone();
  });
  return locator;
}

/** The same, held: one that is drawn in its place later is another. */
export async function findElement(frame: Frame, selector: string): Promise<ElementHandle<Element>> {
  const found = frame.waitForSelector(selector, { state: 'attached', timeout: FIND_TIMEOUT_MS });
  return await found.catch(() => {
    throw elementGone();
  });
}

/** Brings an element into view, and waits until it stands still. */
export async function scrollTo(element: Locator | ElementHandle): Promise<void> {
  await element.scrollIntoViewIfNeeded({ timeout: FIND_TIMEOUT_MS }).catch(() => undefined);
}

/** What was read a moment ago is there no more. */
export function elementGone(): Error {
  return failure('element_not_found', 'an element of the login form is gone', true);
}

/** In CSS pixels of the viewport. */
export interface Point {
  x: number;
  y: number;
}

/** A point of an element in CSS pixels of the viewport, or null when something else would take the click there. */
export async function pointOf(
  boxOf: Promise<(Point & { width: number; height: number }) | null>,
  spotIn: Promise<Point | null>,
): Promise<Point | null> {
  const [box, spot] = await Promise.all([boxOf, spotIn]);
  if (box === null || box.width < 1 || box.height < 1) return null;
  return spot === null ? null : { x: Math.round(box.x + spot.x), y: Math.round(box.y + spot.y) };
}
