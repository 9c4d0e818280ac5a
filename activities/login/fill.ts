import type { Frame, Locator, Page } from 'playwright-core';
import type { ReadField } from '../../contract/reading.ts';
import { clickMouse, pressKey, typeText } from '../../browser-client/computer.ts';
import type { BrowserService } from '../../browser-client/service.ts';
import { failure } from './faults.ts';
import type { SessionTarget } from '../../browser-client/sessions.ts';
import { clickSpot, hasFocus, isList, isShownWhole, lengthOfValue, onlyMarks, showsOption } from './page-checks.ts';

/** How long an element that was read a moment ago may take to be there again, in milliseconds. */
const FIND_TIMEOUT_MS = 5000;

/** A place on a page: its selector and the frames that lead to it. */
export interface Place {
  selector: string;
  frame: string[];
}

/** What filling needs: the page to look at, and the session's mouse and keyboard. */
export interface Hands {
  page: Page;
  service: BrowserService;
  computer: SessionTarget;
}

/** The frame that holds a place. */
export async function frameOf(page: Page, place: Place): Promise<Frame> {
  let frame = page.mainFrame();
  for (const selector of place.frame) {
    const handle = await frame
      .waitForSelector(selector, { state: 'attached', timeout: FIND_TIMEOUT_MS })
      .catch(() => null);
    const inner = await handle?.contentFrame();
    if (inner === null || inner === undefined)
      throw failure('element_not_found', 'a frame of the login form is gone', true);
    frame = inner;
  }
  return frame;
}

/** Puts `value` into a field by mouse and keyboard, replacing what is there; an empty one clears it. */
export async function fillField(hands: Hands, field: ReadField, value: string): Promise<void> {
  const locator = (await frameOf(hands.page, field)).locator(field.selector).first();
  // Asked all at once: on a fast site what a login takes is the questions that it asks.
  const [list, shown] = await Promise.all([
    locator.evaluate(isList, null, { timeout: FIND_TIMEOUT_MS }),
    locator.evaluate(isShownWhole, null, { timeout: FIND_TIMEOUT_MS }),
  ]).catch(() => {
    throw lost();
  });
  if (!shown) await scrollTo(locator);
  if (list) {
    await chooseFrom(hands, locator, value);
    return;
  }
  if ((await focusByClick(hands, locator)) > 0) {
    await pressKey(hands.service, hands.computer, { keys: ['Ctrl+a'] });
    await pressKey(hands.service, hands.computer, { keys: ['BackSpace'] });
  }
  if (value !== '') await typeText(hands.service, hands.computer, { text: value });
}

/**
 * Chooses an entry of a list by typing its name, as a person does. Not by a click: the list that it would open lies outside
 * of the page. A list that does not go by what is typed (its entries begin with a picture or a number) is set directly.
 */
async function chooseFrom(hands: Hands, locator: Locator, value: string): Promise<void> {
  await locator.focus({ timeout: FIND_TIMEOUT_MS });
  if (await locator.evaluate(hasFocus)) await typeText(hands.service, hands.computer, { text: value });
  if (await locator.evaluate(showsOption, value)) return;
  await locator.selectOption({ label: value }, { timeout: 1000 }).catch(async () => {
    await locator.selectOption(value, { timeout: 1000 }).catch(() => {
      throw failure('element_not_found', 'a list of the login form does not offer what was answered', true);
    });
  });
}

/** Clicks what submits the form; without a button, the Return key does. */
export async function pressSubmit(hands: Hands, submit: Place | null): Promise<void> {
  if (submit === null) {
    await pressKey(hands.service, hands.computer, { keys: ['Return'] });
    return;
  }
  await clickPlace(hands, submit);
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
  const locator = await attached(await frameOf(hands.page, place), place.selector);
  const point = (await pointAtOnce(locator)) ?? (await pointOnceReady(locator));
  if (point !== null) {
    await clickMouse(hands.service, hands.computer, point);
    return;
  }
  await locator.focus({ timeout: FIND_TIMEOUT_MS });
  await pressKey(hands.service, hands.computer, { keys: ['Return'] });
}

/** Where to click an element that is all there and ready, asked at once as of fields; null of any other. */
async function pointAtOnce(locator: Locator): Promise<{ x: number; y: number } | null> {
  const timeout = FIND_TIMEOUT_MS;
  const [shown, disabled, point] = await Promise.all([
    locator.evaluate(isShownWhole, null, { timeout }),
    locator.isDisabled({ timeout }),
    pointOf(locator),
  ]).catch(() => [false, true, null] as const);
  return shown && !disabled ? point : null;
}

async function pointOnceReady(locator: Locator): Promise<{ x: number; y: number } | null> {
  await scrollTo(locator);
  await locator.waitFor({ state: 'visible', timeout: FIND_TIMEOUT_MS }).catch(() => undefined);
  await waitUntilEnabled(locator);
  return await pointOf(locator);
}

async function attached(frame: Frame, selector: string): Promise<Locator> {
  const locator = frame.locator(selector).first();
  await locator.waitFor({ state: 'attached', timeout: FIND_TIMEOUT_MS }).catch(() => {
    throw lost();
  });
  return locator;
}

/** Brings an element into view, and waits until it stands still. */
async function scrollTo(locator: Locator): Promise<void> {
  await locator.scrollIntoViewIfNeeded({ timeout: FIND_TIMEOUT_MS }).catch(() => undefined);
}

function lost(): Error {
  return failure('element_not_found', 'an element of the login form is gone', true);
}

/** Gives a field the focus; answers how many characters are in it then. */
async function focusByClick(hands: Hands, locator: Locator): Promise<number> {
  const look = (): Promise<[focused: boolean, length: number]> =>
    Promise.all([locator.evaluate(hasFocus), locator.evaluate(lengthOfValue)]);
  const point = await pointOf(locator);
  if (point !== null) await clickMouse(hands.service, hands.computer, point);
  const [focused, length] = await look();
  if (focused) return length;
  await locator.focus({ timeout: FIND_TIMEOUT_MS });
  const [focusedNow, lengthNow] = await look();
  // Typing without the focus would type into something else: a password in a search box.
  if (!focusedNow) throw failure('element_not_found', 'a field of the login form does not take the focus', true);
  return lengthNow;
}

/** Some forms enable their button when the last field is filled, a moment after the last key. */
async function waitUntilEnabled(locator: Locator): Promise<void> {
  const end = Date.now() + 2000;
  while (Date.now() < end && (await locator.isDisabled().catch(() => false)))
    await new Promise((resolve) => setTimeout(resolve, 25));
}

/** A point of an element in CSS pixels of the viewport, or null when something else would take the click there. */
async function pointOf(locator: Locator): Promise<{ x: number; y: number } | null> {
  const [box, spot] = await Promise.all([
    locator.boundingBox({ timeout: FIND_TIMEOUT_MS }),
    locator.evaluate(clickSpot, null, { timeout: FIND_TIMEOUT_MS }),
  ]);
  if (box === null || box.width < 1 || box.height < 1) return null;
  return spot === null ? null : { x: Math.round(box.x + spot.x), y: Math.round(box.y + spot.y) };
}
