import type { Frame, Locator } from 'playwright-core';
import { pressKey, typeText } from '../../browser-client/computer.ts';
import { failure } from './faults.ts';
import { hasFocus, showsOption } from './page-checks.ts';
import { FIND_TIMEOUT_MS, type Hands } from './place.ts';
import { clickLocator } from './press.ts';

/** How long a list that is drawn by a script may take to open, in milliseconds. */
const OPENS_WITHIN_MS = 2000;

/** Chooses the entry of this name or value from a list: one of the browser's, or one that a script draws. */
export async function chooseFrom(
  hands: Hands,
  frame: Frame,
  selector: string,
  value: string,
  kind: 'native' | 'drawn',
): Promise<void> {
  const list = frame.locator(selector).first();
  await (kind === 'native' ? chooseByName(hands, list, value) : chooseByClick(hands, frame, list, value));
}

/**
 * Chooses by typing the entry's name, as a person does. Not by a click: the list that it would open lies outside
 * of the page. A list that does not go by what is typed (its entries begin with a picture or a number) is set directly.
 */
async function chooseByName(hands: Hands, list: Locator, value: string): Promise<void> {
  await list.focus({ timeout: FIND_TIMEOUT_MS });
  if (await list.evaluate(hasFocus)) await typeText(hands.service, hands.computer, { text: value });
  if (await list.evaluate(showsOption, value)) return;
  await list.selectOption({ label: value }, { timeout: 1000 }).catch(async () => {
    await list.selectOption(value, { timeout: 1000 }).catch(() => {
      throw notOffered();
    });
  });
}

/** Opens the list by a click and clicks the entry: what a script draws stands in the page. */
async function chooseByClick(hands: Hands, frame: Frame, list: Locator, value: string): Promise<void> {
  const option = frame.getByRole('option', { name: value.trim(), exact: true }).first();
  if (!(await option.isVisible())) await clickLocator(hands, list);
  await option.waitFor({ state: 'visible', timeout: OPENS_WITHIN_MS }).catch(async () => {
    await pressKey(hands.service, hands.computer, { keys: ['Escape'] });
    throw notOffered();
  });
  await clickLocator(hands, option);
  // What is drawn over the fields below until it has closed would take their clicks.
  await option.waitFor({ state: 'hidden', timeout: OPENS_WITHIN_MS }).catch(() => undefined);
}

function notOffered(): Error {
  return failure('element_not_found', 'a list of the login form does not offer what was answered', true);
}
