import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { clickMouse, pressKey } from '../../../browser-client/computer.ts';
import { findClickPoint, hasFocus, isFullyVisible, isChecked, valueLength, onlySelects } from './page-functions.ts';
import type { Answer } from '../../../contract/activities.ts';
import {
  locateAttached,
  FIND_TIMEOUT_MS,
  resolveFrame,
  type PageInput,
  type Place,
  type Point,
  pointOf,
  scrollTo,
} from './page-input.ts';

/** Clicks what submits the form; without a button, the Return key does. */
export async function pressSubmit(pageInput: PageInput, submit: Place | null): Promise<void> {
  if (submit === null) {
    await pressKey(pageInput.service, pageInput.computer, { keys: ['Return'] });
    return;
  }
  await clickElement(pageInput, submit);
}

/** Ticks the boxes that a choice rests on: by the mouse, else by the keyboard; a drawn one that neither reaches, by its script. */
export async function checkBoxes(pageInput: PageInput, boxes: readonly Place[]): Promise<void> {
  for (const box of boxes) {
    const locator = await locateAttached(await resolveFrame(pageInput.page, box), box.selector);
    const isUnticked = async (): Promise<boolean> =>
      !(await locator.evaluate(isChecked, null, { timeout: FIND_TIMEOUT_MS }));
    await scrollTo(locator);
    const point = await pointOfLocator(locator);
    if (point !== null && (await isUnticked())) await clickMouse(pageInput.service, pageInput.computer, point);
    if (await isUnticked()) {
      await locator.focus({ timeout: FIND_TIMEOUT_MS }).catch(() => undefined);
      if (await locator.evaluate(hasFocus)) await pressKey(pageInput.service, pageInput.computer, { keys: ['space'] });
    }
    if (await isUnticked()) await locator.dispatchEvent('click', undefined, { timeout: FIND_TIMEOUT_MS });
  }
}

/** Clicks a choice; one that only marks itself (a radio button) is followed by the form's button. */
export async function selectChoice(pageInput: PageInput, choice: Place, submit: Place | null): Promise<void> {
  const frame = await resolveFrame(pageInput.page, choice);
  const marks = await (await locateAttached(frame, choice.selector)).evaluate(onlySelects);
  await clickElement(pageInput, choice);
  if (marks) await pressSubmit(pageInput, submit);
}

/** Clicks an element; what covers it (a cookie notice) is gone around by the keyboard. */
export async function clickElement(pageInput: PageInput, place: Place): Promise<void> {
  await clickLocator(pageInput, await locateAttached(await resolveFrame(pageInput.page, place), place.selector));
}

/** The same for an element that is found already. */
export async function clickLocator(pageInput: PageInput, locator: Locator): Promise<void> {
  const point = (await currentClickPoint(locator)) ?? (await clickPointWhenReady(locator));
  if (point !== null) {
    await clickMouse(pageInput.service, pageInput.computer, point);
    return;
  }
  await locator.focus({ timeout: FIND_TIMEOUT_MS });
  await pressKey(pageInput.service, pageInput.computer, { keys: ['Return'] });
}

/** Where to click an element that is all there and ready, asked at once as of fields; null of any other. */
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

/** How long a page may take to go on from the Return key, in milliseconds. */
const RETURN_ANSWERED_WITHIN_MS = 500;

/**
 * Leaves the lone field of a form without a button where the Return key has led nowhere: some pages ask for the password when
 * the name has lost the focus. A form that was sent, or has gone on, is left alone.
 */
export async function blurLoneField(pageInput: PageInput, entries: Answer['entries']): Promise<void> {
  const [only, ...others] = entries;
  if (only === undefined || others.length > 0 || only.field.type !== 'identifier') return;
  await sleep(RETURN_ANSWERED_WITHIN_MS);
  const frame = await resolveFrame(pageInput.page, only.field).catch(() => null);
  const field = await frame?.$(only.field.selector).catch(() => null);
  const stands = await Promise.all([field?.evaluate(hasFocus), field?.evaluate(valueLength)]).catch(() => [false]);
  if (stands.every(Boolean)) await pressKey(pageInput.service, pageInput.computer, { keys: ['Tab'] });
}

/** Some forms enable their button when the last field is filled, a moment after the last key. */
async function waitUntilEnabled(locator: Locator): Promise<void> {
  const end = Date.now() + 2000;
  while (Date.now() < end && (await locator.isDisabled().catch(() => false))) await sleep(25);
}

function pointOfLocator(locator: Locator): Promise<Point | null> {
  const timeout = FIND_TIMEOUT_MS;
  return pointOf(locator.boundingBox({ timeout }), locator.evaluate(findClickPoint, null, { timeout }));
}
