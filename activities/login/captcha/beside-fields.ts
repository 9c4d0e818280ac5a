import type { Frame, Page } from 'playwright-core';
import { inTime } from '../../../contract/in-time.ts';
import type { PageReading } from '../../../contract/reading.ts';
import { isSameSite } from '../../../contract/site-hosts.ts';
import { authorUrl } from '../allowed-site.ts';
import { frameOf, type Place } from '../place.ts';
import { ANSWERS, unansweredBeside, type Unanswered } from './unanswered.ts';

/** How long one document may take to be looked through, in milliseconds. */
const LOOK_WITHIN_MS = 3_000;
/** How long a captcha that can be seen may take to answer itself, as those do that only look at the browser, in milliseconds. */
const OPEN_ANSWERS_WITHIN_MS = 5_000;
/** The same of one that cannot be seen: many are asked by the press itself, so the form is sent then. */
const UNSEEN_ANSWERS_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 150;

/** True of a form that has a captcha beside its fields which can be seen and has no answer yet. */
export async function isUnproved(page: Page, { kind, fields }: PageReading): Promise<boolean> {
  const field = fields.find(({ type }) => type === 'password') ?? fields[0];
  return kind === 'form' && field !== undefined && (await seeBeside(page, field)) === 'open';
}

/**
 * Gives a captcha beside the fields the moment in which some answer themselves. False where one that can be seen has no answer then:
 * the form is not to be sent.
 * @param field one of the form that is to be sent.
 * @param beforePress whether the form is sent next: what cannot be seen is waited for, too.
 */
export async function isProvedSoon(
  page: Page,
  field: Place,
  beforePress: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const began = Date.now();
  for (;;) {
    const state = await seeBeside(page, field);
    const isAwaited = state === 'open' || (state === 'unseen' && beforePress);
    const withinMs = state === 'open' ? OPEN_ANSWERS_WITHIN_MS : UNSEEN_ANSWERS_WITHIN_MS;
    if (!isAwaited || Date.now() - began >= withinMs || signal.aborted) return state !== 'open';
    // No event tells of an answer: scripts set the value of a field.
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Looks at the document that holds the field, and at the frames of the same site in it. */
async function seeBeside(page: Page, field: Place): Promise<Unanswered> {
  const look = async (): Promise<Unanswered> => {
    const frame = await frameOf(page, field);
    const entry = await frame.locator(field.selector).first().elementHandle({ timeout: LOOK_WITHIN_MS });
    const own = await frame.locator(ANSWERS).evaluateAll(unansweredBeside, entry);
    await entry.dispose();
    const states = [own];
    for (const child of own === 'open' ? [] : frame.childFrames()) states.push(await seeInFrame(child));
    return states.find((state) => state === 'open') ?? states.find((state) => state === 'unseen') ?? 'none';
  };
  // A page that is on its way elsewhere asks for nothing here.
  return await inTime(
    look().catch(() => 'none' as const),
    2 * LOOK_WITHIN_MS,
    'none',
  );
}

/** A widget that the site keeps in a frame of its own. What its maker's frame holds is the maker's affair. */
async function seeInFrame(frame: Frame): Promise<Unanswered> {
  const parent = frame.parentFrame();
  if (parent === null || !isSameSite(authorUrl(frame), authorUrl(parent))) return 'none';
  const element = await frame.frameElement();
  const isShown = await element.isVisible();
  await element.dispose();
  return isShown ? await frame.locator(ANSWERS).evaluateAll(unansweredBeside, null) : 'none';
}
