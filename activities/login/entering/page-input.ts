import type { ElementHandle, Frame, Locator, Page } from 'playwright-core';
import { type InputTarget, clickMouse, pressKey } from '../../../browser-client/computer.ts';
import type { BrowserService } from '../../../browser-client/service.ts';
import { failure } from '../../activity.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { findClickPoint, hasFocus, isFullyVisible, isChecked, valueLength, onlySelects } from './page-functions.ts';
import type { Answer } from '../../../contract/activities.ts';

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

async function locateAttached(frame: Frame, selector: string): Promise<Locator> {
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

/** Submits the form by its button, or by the Return key if it has none. */
export async function pressSubmit(input: PageInput, submit: ElementPath | null): Promise<void> {
  if (submit === null) {
    await pressKey(input.service, input.computer, { keys: ['Return'] });
    return;
  }
  await clickElement(input, submit);
}

/** Checks the boxes that a choice requires: by mouse, else by keyboard, else by a dispatched click for scripted boxes. */
export async function checkBoxes(input: PageInput, boxes: readonly ElementPath[]): Promise<void> {
  for (const box of boxes) {
    const locator = await locateAttached(await resolveFrame(input.page, box), box.selector);
    const isUnticked = async (): Promise<boolean> =>
      !(await locator.evaluate(isChecked, null, { timeout: FIND_TIMEOUT_MS }));
    await scrollTo(locator);
    const point = await pointOfLocator(locator);
    if (point !== null && (await isUnticked())) await clickMouse(input.service, input.computer, point);
    if (await isUnticked()) {
      await locator.focus({ timeout: FIND_TIMEOUT_MS }).catch(() => undefined);
      if (await locator.evaluate(hasFocus)) await pressKey(input.service, input.computer, { keys: ['space'] });
    }
    if (await isUnticked()) await locator.dispatchEvent('click', undefined, { timeout: FIND_TIMEOUT_MS });
  }
}

/** Clicks a choice. If that only selects it (a radio button), submits the form. */
export async function selectChoice(input: PageInput, choice: ElementPath, submit: ElementPath | null): Promise<void> {
  const frame = await resolveFrame(input.page, choice);
  const needsSubmit = await (await locateAttached(frame, choice.selector)).evaluate(onlySelects);
  await clickElement(input, choice);
  if (needsSubmit) await pressSubmit(input, submit);
}

/** Clicks an element. If something covers it (a cookie notice), activates it by keyboard. */
export async function clickElement(input: PageInput, place: ElementPath): Promise<void> {
  await clickLocator(input, await locateAttached(await resolveFrame(input.page, place), place.selector));
}

/** Like {@link clickElement}, for a locator. */
export async function clickLocator(input: PageInput, locator: Locator): Promise<void> {
  const point = (await currentClickPoint(locator)) ?? (await clickPointWhenReady(locator));
  if (point !== null) {
    await clickMouse(input.service, input.computer, point);
    return;
  }
  await locator.focus({ timeout: FIND_TIMEOUT_MS });
  await pressKey(input.service, input.computer, { keys: ['Return'] });
}

/** Where to click an element that is fully visible and enabled, in one round trip; null otherwise. */
async function currentClickPoint(locator: Locator): Promise<Point | null> {
  const timeout = FIND_TIMEOUT_MS;
  const [shown, disabled, point] = await Promise.all([
    locator.evaluate(isFullyVisible, null, { timeout }),
    locator.isDisabled({ timeout }),
    pointOfLocator(locator),
  ]).catch(() => [false, true, null] as const);
  return shown && !disabled ? point : null;
}

async function clickPointWhenReady(locator: Locator): Promise<Point | null> {
  await scrollTo(locator);
  await locator.waitFor({ state: 'visible', timeout: FIND_TIMEOUT_MS }).catch(() => undefined);
  await waitUntilEnabled(locator);
  return await pointOfLocator(locator);
}

/** How long a page may take to react to the Return key, in milliseconds. */
const RETURN_TIMEOUT_MS = 500;

/** Blurs the only field of a form without a button if the Return key had no effect: some pages ask for the password on blur. */
export async function blurLoneField(input: PageInput, entries: Answer['entries']): Promise<void> {
  const [only, ...others] = entries;
  if (only === undefined || others.length > 0 || only.field.type !== 'identifier') return;
  await sleep(RETURN_TIMEOUT_MS);
  const frame = await resolveFrame(input.page, only.field).catch(() => null);
  const field = await frame?.$(only.field.selector).catch(() => null);
  const checks = await Promise.all([field?.evaluate(hasFocus), field?.evaluate(valueLength)]).catch(() => [false]);
  if (checks.every(Boolean)) await pressKey(input.service, input.computer, { keys: ['Tab'] });
}

/** Some forms enable their button a moment after the last key. */
async function waitUntilEnabled(locator: Locator): Promise<void> {
  const end = Date.now() + 2000;
  while (Date.now() < end && (await locator.isDisabled().catch(() => false))) await sleep(25);
}

function pointOfLocator(locator: Locator): Promise<Point | null> {
  const timeout = FIND_TIMEOUT_MS;
  return pointOf(locator.boundingBox({ timeout }), locator.evaluate(findClickPoint, null, { timeout }));
}
