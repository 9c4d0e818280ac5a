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
  inputsFrom,
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
  clickLocator,
} from './page-input.ts';

/** How often filling in a field is attempted if the page interferes. */
const MAX_ATTEMPTS = 3;

const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Throws if the document that a value is about to be typed into is not allowed. */
type CheckDocument = (frame: Frame) => void;

/**
 * Fills in a field by mouse and keyboard, replacing its text; an empty `value` clears it. The document is checked once a handle to
 * the element is held: a document that replaces it has another element, which nothing is typed into. Retried if the page interferes
 * (another window opens, the element is rendered anew).
 */
export async function fillField(
  input: PageInput,
  field: ReadField,
  value: string,
  check: CheckDocument = () => undefined,
): Promise<void> {
  for (let attempt = 1; !(await tryFill(input, field, value, check)); attempt += 1) {
    if (attempt === MAX_ATTEMPTS) throw elementGone();
    await bringToFront(input.page);
  }
}

/** False if the field does not hold the value and another attempt may succeed. */
async function tryFill(input: PageInput, field: ReadField, value: string, check: CheckDocument): Promise<boolean> {
  const { frame, frameElements } = await resolveFramePath(input.page, field);
  await waitForPendingNavigation(frame);
  const element = await findElement(frame, field.selector);
  check(frame);
  try {
    // In parallel: on a fast site these round trips are most of the time a login takes.
    const [list, shown, control] = await Promise.all([
      element.evaluate(listKind),
      element.evaluate(isFullyVisible),
      element.evaluate(describeControl),
    ]);
    if (!shown) await scrollTo(element);
    if (list !== null) {
      await chooseOption(input, frame, field.selector, value, list);
      return true;
    }
    // Typed, the order of day, month and year would depend on the browser's language.
    if (control.type === 'date' && ISO_DATE.test(value)) {
      await element.fill(value);
      return true;
    }
    if (asksForCode(field.type)) {
      // The last digit may submit the form and replace its document: a second attempt would type into the next one.
      await withLockedKeys(frameElements, element, 'any element', async () => {
        const boxes = field.boxes > 1 ? await findBoxes(element, field.boxes) : [];
        if (boxes.length > 0) await fillBoxes(input, element, boxes, value);
        else await replaceText(input, element, await focusByClick(input, element), value);
      });
      return true;
    }
    if (field.type !== 'password') return await replaceText(input, element, await focusByClick(input, element), value);
    if (!acceptsPassword(control, field)) throw elementGone();
    if (field.boxes > 1) {
      const boxes = await findBoxes(element, field.boxes);
      if (boxes.length === 0) throw elementGone();
      await withLockedKeys(frameElements, element, boxes, () => fillBoxes(input, element, boxes, value));
      return true;
    }
    return await withLockedKeys(frameElements, element, 'this element', async () => {
      const length = await focusByClick(input, element);
      if (!acceptsPassword(await element.evaluate(describeControl), field)) throw elementGone();
      await replaceText(input, element, length, value);
    });
  } catch (error) {
    if (error instanceof ApplicationFailure) throw error;
    // If another page or a dialog is in front, the browser service has typed nothing there.
    if (error instanceof BrowserServiceError && (error.code !== 'browser_error' || error.retryable)) throw error;
    return false;
  }
}

/** How long a page may take to move the focus to the next box, in milliseconds. */
const FOCUS_DELAY_MS = 50;

/**
 * Types a code or PIN once, into one box per character. They are cleared first, last box first: those that hold a refused value would
 * make a complete one with every new character. Not every page moves the focus along.
 */
async function fillBoxes(
  input: PageInput,
  first: ElementHandle<Element>,
  boxes: ElementHandle<Element>[],
  value: string,
): Promise<void> {
  const { service, computer } = input;
  for (const box of boxes.toReversed()) {
    if ((await box.evaluate(valueLength)) === 0) continue;
    await box.focus();
    if (!(await box.evaluate(hasFocus))) continue;
    await pressKey(service, computer, { keys: ['Ctrl+a'] });
    await pressKey(service, computer, { keys: ['BackSpace'] });
  }
  await focusByClick(input, first);
  for (const [index, character] of Array.from(value).entries()) {
    if (index > 0) await sleep(FOCUS_DELAY_MS);
    const box = boxes[index];
    // If it was rendered anew, the page has moved the focus to the one in its place.
    if (index > 0 && (await box?.evaluate(hasFocus)) === false) await box?.focus().catch(() => undefined);
    await typeText(service, computer, { text: character });
  }
}

/** The boxes of a code or PIN, or none if there are not as many as were read. */
async function findBoxes(first: ElementHandle<Element>, count: number): Promise<ElementHandle<Element>[]> {
  const list = await first.evaluateHandle(inputsFrom, count);
  const boxes = [...(await list.getProperties()).values()].flatMap((each) => each.asElement() ?? []);
  return boxes.length === count ? boxes : [];
}

/** Replaces the text of the focused element. False if the page has rendered another element, which still holds the old text. */
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

const REVEALED_PASSWORD_TYPES: ReadonlySet<string> = new Set(['text', 'tel', 'number']);

/** Whether a control is a password input, or the one that was read with its password revealed; no other control by that selector is. */
function acceptsPassword({ tag, type, name }: ReturnType<typeof describeControl>, field: ReadField): boolean {
  if (tag !== 'input') return false;
  if (type === 'password') return true;
  return REVEALED_PASSWORD_TYPES.has(type) && (name === '' || field.name === name || field.name.startsWith(`${name}_`));
}

/** Types with the keys of each document locked to the next frame element, the innermost to `target`. False if a key strayed. */
async function withLockedKeys(
  frameElements: ElementHandle<Element>[],
  element: ElementHandle<Element>,
  target: 'this element' | 'any element' | ElementHandle<Element>[],
  type: () => Promise<void>,
): Promise<boolean> {
  const locks: JSHandle<KeyLock>[] = [];
  const delivered: boolean[] = [];
  try {
    for (const each of [...frameElements, element])
      locks.push(await each.evaluateHandle(lockKeys, each === element ? target : 'this element'));
    await type();
  } finally {
    for (const lock of locks) delivered.push(await lock.evaluate(unlockKeys).catch(() => false));
  }
  return delivered.every(Boolean);
}

/** Waits for a navigation that has already started: its document would replace the current one. */
export async function waitForPendingNavigation(frame: Frame): Promise<void> {
  const end = Date.now() + FIND_TIMEOUT_MS;
  while (isNavigating(frame) && Date.now() < end) await sleep(25);
}

/** Closes windows that have opened over a page while it was filled in, and activates the page. */
export async function bringToFront(page: Page): Promise<void> {
  const pages = page.context().pages();
  const later = pages.slice(pages.indexOf(page) + 1);
  await Promise.all(later.map((each) => each.close().catch(() => undefined)));
  await page.bringToFront().catch(() => undefined);
}

async function focusByClick(input: PageInput, element: ElementHandle<Element>): Promise<number> {
  const point = await pointOf(element.boundingBox(), element.evaluate(findClickPoint));
  if (point !== null) await clickMouse(input.service, input.computer, point);
  const length = await focusedLength(element);
  if (length !== null) return length;
  await element.focus();
  const focused = await focusedLength(element);
  // Without focus, the text would go elsewhere: a password into a search box.
  if (focused === null) throw failure('element_not_found', 'a field of the login form cannot be focused', true);
  return focused;
}

/** How many characters a field holds; null if it is not focused. */
async function focusedLength(element: ElementHandle<Element>): Promise<number | null> {
  const [focused, length] = await Promise.all([element.evaluate(hasFocus), element.evaluate(valueLength)]);
  return focused ? length : null;
}

const LIST_TIMEOUT_MS = 2000;

async function chooseOption(
  input: PageInput,
  frame: Frame,
  selector: string,
  value: string,
  kind: 'native' | 'scripted',
): Promise<void> {
  const list = frame.locator(selector).first();
  await (kind === 'native' ? chooseByTyping(input, list, value) : chooseByClick(input, frame, list, value));
}

/** Types the option's label, because a click opens a native popup outside the page; sets it directly if that does not select it. */
async function chooseByTyping(input: PageInput, list: Locator, value: string): Promise<void> {
  await list.focus({ timeout: FIND_TIMEOUT_MS });
  if (await list.evaluate(hasFocus)) await typeText(input.service, input.computer, { text: value });
  if (await list.evaluate(hasSelectedOption, value)) return;
  await list.selectOption({ label: value }, { timeout: 1000 }).catch(async () => {
    await list.selectOption(value, { timeout: 1000 }).catch(() => {
      throw optionMissing();
    });
  });
}

async function chooseByClick(input: PageInput, frame: Frame, list: Locator, value: string): Promise<void> {
  const option = frame.getByRole('option', { name: value.trim(), exact: true }).first();
  if (!(await option.isVisible())) await clickLocator(input, list);
  await option.waitFor({ state: 'visible', timeout: LIST_TIMEOUT_MS }).catch(async () => {
    await pressKey(input.service, input.computer, { keys: ['Escape'] });
    throw optionMissing();
  });
  await clickLocator(input, option);
  // Until it has closed, the list would receive clicks meant for the fields below.
  await option.waitFor({ state: 'hidden', timeout: LIST_TIMEOUT_MS }).catch(() => undefined);
}

function optionMissing(): Error {
  return failure('element_not_found', 'a list of the login form does not contain the answer', true);
}
