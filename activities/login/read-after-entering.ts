import type { Page } from 'playwright-core';
import type { LoginTarget } from '../../contract/activities.ts';
import type { PageReading } from '../../contract/reading.ts';
import type { LoginDeps } from './deps.ts';
import { frameOf } from './fill.ts';
import { lengthOfValue } from './page-checks.ts';
import { seeFrames } from './reading/frames.ts';
import { readOffers } from '../../reader/offers.ts';
import { readLogin } from './read-login.ts';

/** How long a site may still take to answer what a lost worker has sent, in milliseconds. */
const LATE_ANSWER_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 500;
/** How long a form that stays as it was filled in may still wait for its answer, in milliseconds. */
const STILL_FILLED_WITHIN_MS = 6_000;

/** Reads the page that an answer led to. `entered`: something was typed, or a question after
 * the login was answered; not only chosen. */
export async function readAfterEntering(
  deps: Pick<LoginDeps, 'pages'>,
  target: Pick<LoginTarget, 'projectId'>,
  sessionId: string,
  entered: boolean,
): Promise<PageReading> {
  const end = Date.now() + STILL_FILLED_WITHIN_MS;
  // A provider's window may have opened or closed: the page is looked up anew.
  let page = await deps.pages.of(target.projectId, sessionId);
  let reading = await readLogin(page);
  // A script has the answer and leads on in a moment, or a slow one has not told of the refusal yet.
  while (entered && saysNothingNew(reading) && Date.now() < end && (await isFilled(page, reading))) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    page = await deps.pages.of(target.projectId, sessionId);
    reading = await readLogin(page);
  }
  const neutral = reading.kind === 'other' && reading.website_error === null;
  if (!entered || !neutral) return reading;
  const offers = readOffers(await seeFrames(page));
  if (offers.length > 0) return { ...reading, kind: 'choice', choices: offers, submit: null };
  // After an answer, a page that neither asks nor complains and offers no sign-in is the site's inside.
  return reading.sign_in_link === null ? { ...reading, kind: 'logged_in' } : reading;
}

function saysNothingNew({ kind, fields, website_error: error }: PageReading): boolean {
  return kind === 'form' && error === null && fields.some(({ type }) => type === 'password');
}

/**
 * Reads the page for a worker that was lost between its press and the site's answer. While the form still holds what was
 * typed, the answer is likely to be on its way: asking again at once would have the person send the password twice.
 */
export async function readAfterLostEntry(
  deps: LoginDeps,
  target: LoginTarget,
  sessionId: string,
  signal: AbortSignal,
): Promise<PageReading> {
  const end = Date.now() + LATE_ANSWER_WITHIN_MS;
  for (;;) {
    const reading = await readAfterEntering(deps, target, sessionId, true);
    if (reading.kind !== 'form' || Date.now() > end || signal.aborted) return reading;
    const page = await deps.pages.of(target.projectId, sessionId);
    if (!(await isFilled(page, reading))) return reading;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** True when the form's password field (or its first field) still holds something. */
async function isFilled(page: Page, { fields }: PageReading): Promise<boolean> {
  const field = fields.find(({ type }) => type === 'password') ?? fields[0];
  if (field === undefined) return false;
  try {
    const frame = await frameOf(page, field);
    return (await frame.locator(field.selector).first().evaluate(lengthOfValue, null, { timeout: 1000 })) > 0;
  } catch {
    // The form went away under the look: the next reading tells.
    return true;
  }
}
