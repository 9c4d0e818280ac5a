import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { ElementHandle, Frame, JSHandle, Page, Locator } from 'playwright-core';
import { asksForCode } from '../../../contract/code-fields.ts';
import type { ReadField } from '../../../contract/reading.ts';
import { clickMouse, pressKey, typeText } from '../../../browser-client/computer.ts';
import { BrowserServiceError } from '../../../browser-client/errors.ts';
import { failure } from '../../activity.ts';
import {
  lockKeys,
  unlockKeys,
  type KeyLock,
  findClickPoint,
  describeControl,
  hasFocus,
  isFullyVisible,
  valueLength,
  listKind,
  hasSelectedOption,
} from './page-functions.ts';
import { isNavigating } from '../reading/traffic.ts';
import {
  findElement,
  FIND_TIMEOUT_MS,
  type PageInput,
  elementGone,
  pointOf,
  scrollTo,
  resolveFramePath,
} from './page-input.ts';
import { clickLocator } from './press.ts';

/** How often a field is filled in when something comes in the way. */
const MAX_TRIES = 3;

/** Looks at the document that a value is about to be typed into; throws where it may not be. */
export type CheckDocument = (frame: Frame) => void;

/**
 * Puts `value` into a field by mouse and keyboard, replacing what is there; an empty one clears it. The document is checked once
 * the element in it is held: one that comes in its place has another element, which nothing is typed into. Where the page has put
 * something else in the way meanwhile (another window, an element drawn anew), it is tried again.
 */
export async function fillField(
  pageInput: PageInput,
  field: ReadField,
  value: string,
  check: CheckDocument = () => undefined,
): Promise<void> {
  for (let tries = 1; !(await tryFill(pageInput, field, value, check)); tries += 1) {
    if (tries === MAX_TRIES) throw elementGone();
    await bringToFront(pageInput.page);
  }
}

/** False where the field does not hold the value then, and another try may do. */
async function tryFill(pageInput: PageInput, field: ReadField, value: string, check: CheckDocument): Promise<boolean> {
  const { frame, around } = await resolveFramePath(pageInput.page, field);
  await waitForPendingNavigation(frame);
  const element = await findElement(frame, field.selector);
  check(frame);
  try {
    // Asked all at once: on a fast site what a login takes is the questions that it asks.
    const [list, shown, control] = await Promise.all([
      element.evaluate(listKind),
      element.evaluate(isFullyVisible),
      element.evaluate(describeControl),
    ]);
    if (!shown) await scrollTo(element);
    if (list !== null) {
      await chooseOption(pageInput, frame, field.selector, value, list);
      return true;
    }
    if (asksForCode(field.type)) {
      // The last digit may send the form, and its document be gone: a second try would type into the next one.
      await withLockedKeys(around, element, 'spread', async () => {
        await replaceText(pageInput, element, await focusByClick(pageInput, element), value);
      });
      return true;
    }
    if (field.type !== 'password')
      return await replaceText(pageInput, element, await focusByClick(pageInput, element), value);
    if (!acceptsPassword(control, field)) throw elementGone();
    return await withLockedKeys(around, element, 'for the element', async () => {
      const length = await focusByClick(pageInput, element);
      if (!acceptsPassword(await element.evaluate(describeControl), field)) throw elementGone();
      await replaceText(pageInput, element, length, value);
    });
  } catch (error) {
    if (error instanceof ApplicationFailure) throw error;
    // Another page is in front, or a dialog: the service has typed nothing there.
    if (error instanceof BrowserServiceError && (error.code !== 'browser_error' || error.retryable)) throw error;
    return false;
  }
}

/**
 * Types over the `length` characters that the element with the focus holds. False where the page has drawn another in its place
 * meanwhile: that one holds still what was to be replaced.
 */
async function replaceText(
  { service, computer }: PageInput,
  element: ElementHandle<Element>,
  length: number,
  value: string,
): Promise<boolean> {
  if (length > 0) {
    await pressKey(service, computer, { keys: ['Ctrl+a'] });
    await pressKey(service, computer, { keys: ['BackSpace'] });
    if (!(await element.evaluate(hasFocus))) return false;
  }
  if (value !== '') await typeText(service, computer, { text: value });
  return true;
}

/** Types of inputs that a password is shown in, where a site shows it. */
const REVEALED_PASSWORD_TYPES: ReadonlySet<string> = new Set(['text', 'tel', 'number']);

/**
 * Whether a control takes passwords: one that hides them, or the one that was read, while it shows them. One that has become
 * something else under the same selector (a comment, a search) does not.
 */
function acceptsPassword({ tag, type, name }: ReturnType<typeof describeControl>, field: ReadField): boolean {
  if (tag !== 'input') return false;
  if (type === 'password') return true;
  return REVEALED_PASSWORD_TYPES.has(type) && (name === '' || field.name === name || field.name.startsWith(`${name}_`));
}

/**
 * Types with the keys of each document on the way kept for the next element, and those of the last one as `keys` has it; false where
 * one was on its way elsewhere.
 */
async function withLockedKeys(
  around: ElementHandle<Element>[],
  element: ElementHandle<Element>,
  keys: Parameters<typeof lockKeys>[1],
  type: () => Promise<void>,
): Promise<boolean> {
  const locks: JSHandle<KeyLock>[] = [];
  const arrived: boolean[] = [];
  try {
    for (const each of [...around, element])
      locks.push(await each.evaluateHandle(lockKeys, each === element ? keys : 'for the element'));
    await type();
  } finally {
    for (const lock of locks) arrived.push(await lock.evaluate(unlockKeys).catch(() => false));
  }
  return arrived.every(Boolean);
}

/** Gives a document that the frame has asked for already the time to come: it would take the place of the one that is there. */
export async function waitForPendingNavigation(frame: Frame): Promise<void> {
  const end = Date.now() + FIND_TIMEOUT_MS;
  while (isNavigating(frame) && Date.now() < end) await sleep(25);
}

/** Closes windows that have opened over a page while it was filled in, and shows it again. */
export async function bringToFront(page: Page): Promise<void> {
  const pages = page.context().pages();
  const later = pages.slice(pages.indexOf(page) + 1);
  await Promise.all(later.map((each) => each.close().catch(() => undefined)));
  await page.bringToFront().catch(() => undefined);
}

/** Gives a field the focus; answers how many characters are in it then. */
async function focusByClick(pageInput: PageInput, element: ElementHandle<Element>): Promise<number> {
  const point = await pointOf(element.boundingBox(), element.evaluate(findClickPoint));
  if (point !== null) await clickMouse(pageInput.service, pageInput.computer, point);
  const length = await focusedLength(element);
  if (length !== null) return length;
  await element.focus();
  const focused = await focusedLength(element);
  // Typing without the focus would type into something else: a password in a search box.
  if (focused === null) throw failure('element_not_found', 'a field of the login form does not take the focus', true);
  return focused;
}

/** How many characters a field holds that has the focus; null where it has not. */
async function focusedLength(element: ElementHandle<Element>): Promise<number | null> {
  const [focused, length] = await Promise.all([element.evaluate(hasFocus), element.evaluate(valueLength)]);
  return focused ? length : null;
}

/** How long a list that is drawn by a script may take to open, in milliseconds. */
const OPENS_WITHIN_MS = 2000;

/** Chooses the entry of this name or value from a list: one of the browser's, or one that a script draws. */
export async function chooseOption(
  pageInput: PageInput,
  frame: Frame,
  selector: string,
  value: string,
  kind: 'native' | 'drawn',
): Promise<void> {
  const list = frame.locator(selector).first();
  await (kind === 'native' ? chooseByTyping(pageInput, list, value) : chooseByClick(pageInput, frame, list, value));
}

/**
 * Chooses by typing the entry's name, as a person does. Not by a click: the list that it would open lies outside
 * of the page. A list that does not go by what is typed (its entries begin with a picture or a number) is set directly.
 */
async function chooseByTyping(pageInput: PageInput, list: Locator, value: string): Promise<void> {
  await list.focus({ timeout: FIND_TIMEOUT_MS });
  if (await list.evaluate(hasFocus)) await typeText(pageInput.service, pageInput.computer, { text: value });
  if (await list.evaluate(hasSelectedOption, value)) return;
  await list.selectOption({ label: value }, { timeout: 1000 }).catch(async () => {
    await list.selectOption(value, { timeout: 1000 }).catch(() => {
      throw optionMissing();
    });
  });
}

/** Opens the list by a click and clicks the entry: what a script draws stands in the page. */
async function chooseByClick(pageInput: PageInput, frame: Frame, list: Locator, value: string): Promise<void> {
  const option = frame.getByRole('option', { name: value.trim(), exact: true }).first();
  if (!(await option.isVisible())) await clickLocator(pageInput, list);
  await option.waitFor({ state: 'visible', timeout: OPENS_WITHIN_MS }).catch(async () => {
    await pressKey(pageInput.service, pageInput.computer, { keys: ['Escape'] });
    throw optionMissing();
  });
  await clickLocator(pageInput, option);
  // What is drawn over the fields below until it has closed would take their clicks.
  await option.waitFor({ state: 'hidden', timeout: OPENS_WITHIN_MS }).catch(() => undefined);
}

function optionMissing(): Error {
  return failure('element_not_found', 'a list of the login form does not offer what was answered', true);
}
