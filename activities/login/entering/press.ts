import type { Locator } from 'playwright-core';
import { clickMouse, pressKey } from '../../../browser-client/computer.ts';
import { clickSpot, hasFocus, isShownWhole, isTicked, lengthOfValue, onlyMarks } from './page-functions.ts';
import type { Answer } from '../../../contract/activities.ts';
import {
  attached,
  FIND_TIMEOUT_MS,
  frameOf,
  type Hands,
  type Place,
  type Point,
  pointOf,
  scrollTo,
} from './page-input.ts';

/** Clicks what submits the form; without a button, the Return key does. */
export async function pressSubmit(hands: Hands, submit: Place | null): Promise<void> {
  if (submit === null) {
    await pressKey(hands.service, hands.computer, { keys: ['Return'] });
    return;
  }
  await clickPlace(hands, submit);
}

/** Ticks the boxes that a choice rests on: by the mouse, else by the keyboard; a drawn one that neither reaches, by its script. */
export async function tickBoxes(hands: Hands, boxes: readonly Place[]): Promise<void> {
  for (const box of boxes) {
    const locator = await attached(await frameOf(hands.page, box), box.selector);
    const isUnticked = async (): Promise<boolean> =>
      !(await locator.evaluate(isTicked, null, { timeout: FIND_TIMEOUT_MS }));
    await scrollTo(locator);
    const point = await pointOfLocator(locator);
    if (point !== null && (await isUnticked())) await clickMouse(hands.service, hands.computer, point);
    if (await isUnticked()) {
      await locator.focus({ timeout: FIND_TIMEOUT_MS }).catch(() => undefined);
      if (await locator.evaluate(hasFocus)) await pressKey(hands.service, hands.computer, { keys: ['space'] });
    }
    if (await isUnticked()) await locator.dispatchEvent('click', undefined, { timeout: FIND_TIMEOUT_MS });
  }
}

/** Clicks a choice; one that only marks itself (a radio button) is followed by the form's button. */
export async function takeChoice(hands: Hands, choice: Place, submit: Place | null): Promise<void> {
  const frame = await frameOf(hands.page, choice);
  const marks = await (await attached(frame, choice.selector)).evaluate(onlyMarks);
  await clickPlace(hands, choice);
  if (marks) await pressSubmit(hands, submit);
}

/** Clicks an element; what covers it (a cookie notice) is gone around by the keyboard. */
export async function clickPlace(hands: Hands, place: Place): Promise<void> {
  await clickLocator(hands, await attached(await frameOf(hands.page, place), place.selector));
}

/** The same for an element that is found already. */
export async function clickLocator(hands: Hands, locator: Locator): Promise<void> {
  const point = (await pointAtOnce(locator)) ?? (await pointOnceReady(locator));
  if (point !== null) {
    await clickMouse(hands.service, hands.computer, point);
    return;
  }
  await locator.focus({ timeout: FIND_TIMEOUT_MS });
  await pressKey(hands.service, hands.computer, { keys: ['Return'] });
}

/** Where to click an element that is all there and ready, asked at once as of fields; null of any other. */
async function pointAtOnce(locator: Locator): Promise<Point | null> {
  const timeout = FIND_TIMEOUT_MS;
  const [shown, disabled, point] = await Promise.all([
    locator.evaluate(isShownWhole, null, { timeout }),
    locator.isDisabled({ timeout }),
    pointOfLocator(locator),
  ]).catch(() => [false, true, null] as const);
  return shown && !disabled ? point : null;
}

async function pointOnceReady(locator: Locator): Promise<Point | null> {
  await scrollTo(locator);
  await locator.waitFor({ state: 'visible', timeout: FIND_TIMEOUT_MS }).catch(() => undefined);
  await waitUntilEnabled(locator);
  return await pointOfLocator(locator);
}

/** How long a page may take to go on from the Return key, in milliseconds. */
const RETURN_ANSWERED_WITHIN_MS = 500;

/**
 * Leaves the lone field of a form without a button where the Return key has led nowhere: some pages ask for the password when
 * the name has lost the focus. A form that was sent, or has gone on, is left alone.
 */
export async function leaveField(hands: Hands, entries: Answer['entries']): Promise<void> {
  const [only, ...others] = entries;
  if (only === undefined || others.length > 0 || only.field.type !== 'identifier') return;
  await new Promise((resolve) => setTimeout(resolve, RETURN_ANSWERED_WITHIN_MS));
  const frame = await frameOf(hands.page, only.field).catch(() => null);
  const field = await frame?.$(only.field.selector).catch(() => null);
  const stands = await Promise.all([field?.evaluate(hasFocus), field?.evaluate(lengthOfValue)]).catch(() => [false]);
  if (stands.every(Boolean)) await pressKey(hands.service, hands.computer, { keys: ['Tab'] });
}

/** Some forms enable their button when the last field is filled, a moment after the last key. */
async function waitUntilEnabled(locator: Locator): Promise<void> {
  const end = Date.now() + 2000;
  while (Date.now() < end && (await locator.isDisabled().catch(() => false)))
    await new Promise((resolve) => setTimeout(resolve, 25));
}

function pointOfLocator(locator: Locator): Promise<Point | null> {
  const timeout = FIND_TIMEOUT_MS;
  return pointOf(locator.boundingBox({ timeout }), locator.evaluate(clickSpot, null, { timeout }));
}
