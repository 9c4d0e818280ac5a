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
  type ElementPath,
  type Point,
  pointOf,
  scrollTo,
} from './page-input.ts';

/** Submits the form by its button, or by the Return key if it has none. */
export async function pressSubmit(pageInput: PageInput, submit: ElementPath | null): Promise<void> {
  if (submit === null) {
    await pressKey(pageInput.service, pageInput.computer, { keys: ['Return'] });
    return;
  }
  await clickElement(pageInput, submit);
}

/** Checks the boxes that a choice requires: by mouse, else by keyboard, else by a dispatched click for scripted boxes. */
export async function checkBoxes(pageInput: PageInput, boxes: readonly ElementPath[]): Promise<void> {
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

/** Clicks a choice. If that only selects it (a radio button), submits the form. */
export async function selectChoice(
  pageInput: PageInput,
  choice: ElementPath,
  submit: ElementPath | null,
): Promise<void> {
  const frame = await resolveFrame(pageInput.page, choice);
  const needsSubmit = await (await locateAttached(frame, choice.selector)).evaluate(onlySelects);
  await clickElement(pageInput, choice);
  if (needsSubmit) await pressSubmit(pageInput, submit);
}

/** Clicks an element. If something covers it (a cookie notice), activates it by keyboard. */
export async function clickElement(pageInput: PageInput, place: ElementPath): Promise<void> {
  await clickLocator(pageInput, await locateAttached(await resolveFrame(pageInput.page, place), place.selector));
}

/** Like {@link clickElement}, for a locator. */
export async function clickLocator(pageInput: PageInput, locator: Locator): Promise<void> {
  const point = (await currentClickPoint(locator)) ?? (await clickPointWhenReady(locator));
  if (point !== null) {
    await clickMouse(pageInput.service, pageInput.computer, point);
    return;
  }
  await locator.focus({ timeout: FIND_TIMEOUT_MS });
  await pressKey(pageInput.service, pageInput.computer, { keys: ['Return'] });
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

/**
 * Moves the focus out of the only field of a form without a button if the Return key had no effect: some pages ask for the password
 * on blur. Does nothing if the form was submitted.
 */
export async function blurLoneField(pageInput: PageInput, entries: Answer['entries']): Promise<void> {
  const [only, ...others] = entries;
  if (only === undefined || others.length > 0 || only.field.type !== 'identifier') return;
  await sleep(RETURN_TIMEOUT_MS);
  const frame = await resolveFrame(pageInput.page, only.field).catch(() => null);
  const field = await frame?.$(only.field.selector).catch(() => null);
  const checks = await Promise.all([field?.evaluate(hasFocus), field?.evaluate(valueLength)]).catch(() => [false]);
  if (checks.every(Boolean)) await pressKey(pageInput.service, pageInput.computer, { keys: ['Tab'] });
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
