import type { Page } from 'playwright-core';
import type { EnterInput, LoginTarget } from '../../contract/activities.ts';
import type { PageReading, ReadField } from '../../contract/reading.ts';
import type { LoginDeps } from './deps.ts';
import { frameOf } from './fill.ts';
import { lengthOfValue } from './page-checks.ts';
import { seeFrames } from './reading/frames.ts';
import { isSameSite } from './allowed-site.ts';
import { readOffers } from '../../reader/offers.ts';
import { isAskedToLogIn, readAnonymously } from './read-anonymously.ts';
import { readLogin } from './read-login.ts';

/** How long a site may still take to answer what a lost worker has sent, in milliseconds. */
const LATE_ANSWER_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 500;
/** How long a form that stays as it was filled in may still wait for its answer, in milliseconds. */
const STILL_FILLED_WITHIN_MS = 6_000;
/** How long an application that is starting (a blank page, one that says to wait) may take after a login, in milliseconds. */
const STARTS_WITHIN_MS = 30_000;

/** What an answer was: a way to sign in, whom to sign in as (or by which provider), or the login itself. */
export type Answered = 'way' | 'who' | 'login';

/**
 * Reads the page that an answer led to, which may be the site's inside. `answered`: what the answer was: a way to sign in
 * leads to a form, a provider or an account perhaps inside at once, what was typed or said to a question after it inside.
 */
export async function readAfterEntering(
  deps: Pick<LoginDeps, 'pages' | 'service'>,
  target: Pick<LoginTarget, 'projectId' | 'browser' | 'domain'>,
  sessionId: string,
  answered: Answered,
  signal: AbortSignal,
): Promise<PageReading> {
  const began = Date.now();
  // A provider's window may have opened or closed: the page is looked up anew.
  let page = await deps.pages.of(target.projectId, sessionId);
  let reading = await readLogin(page);
  // A script has the answer and leads on in a moment, or a slow one has not told of the refusal yet.
  for (;;) {
    const passed = Date.now() - began;
    const isPending = saysNothingNew(reading) && passed < STILL_FILLED_WITHIN_MS && (await isFilled(page, reading));
    const isStarting = reading.kind === 'unavailable' && passed < STARTS_WITHIN_MS;
    if (answered === 'way' || signal.aborted || !(isPending || isStarting)) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    page = await deps.pages.of(target.projectId, sessionId);
    reading = await readLogin(page);
  }
  const neutral = reading.kind === 'other' && reading.website_error === null;
  if (answered === 'way' || !neutral) return reading;
  const offers = readOffers(await seeFrames(page));
  if (offers.length > 0) return { ...reading, kind: 'choice', choices: offers, submit: null };
  // After an answer, a page that neither asks nor complains and offers no sign-in is the site's inside. Where it does, a
  // visitor whom nobody knows tells: who is led away from there, or asked to log in, sees another page than this one.
  if (answered === 'who' && !isSameSite(page.url(), `https://${target.domain}/`)) return reading;
  if (reading.sign_in_link === null) return { ...reading, kind: 'logged_in' };
  const url = page.url();
  const strangers = await readAnonymously(deps, target, `${sessionId}-stranger`, url, signal).catch(() => null);
  const isOutside = strangers === null || (strangers.kind === 'other' && pathOf(strangers.url) === pathOf(url));
  return isOutside || !isAskedToLogIn(strangers) ? reading : { ...reading, kind: 'logged_in' };
}

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : '';
}

/**
 * Where a code is asked for in the very form that was just filled in, the fields that still hold what was typed are marked:
 * typing into them again would take the code field away.
 */
export async function markHeld(
  deps: Pick<LoginDeps, 'pages'>,
  { target, sessionId, answer }: Pick<EnterInput, 'target' | 'sessionId' | 'answer'>,
  reading: PageReading,
): Promise<PageReading> {
  const isCode = ({ type }: ReadField): boolean => type === 'code' || type === 'totp_code';
  const isAnswered = answer.entries.length > 0 && reading.fields.some(isCode);
  if (!isAnswered || reading.fields.every(isCode)) return reading;
  const page = await deps.pages.of(target.projectId, sessionId);
  const fields = await Promise.all(
    reading.fields.map(async (field) =>
      !isCode(field) && (await holdsText(page, field).catch(() => false)) ? { ...field, held: true } : field,
    ),
  );
  return { ...reading, fields };
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
    const reading = await readAfterEntering(deps, target, sessionId, 'login', signal);
    if (reading.kind !== 'form' || Date.now() > end || signal.aborted) return reading;
    const page = await deps.pages.of(target.projectId, sessionId);
    if (!(await isFilled(page, reading))) return reading;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** True when the form's password field (or its first field) still holds something. */
async function isFilled(page: Page, { fields }: PageReading): Promise<boolean> {
  const field = fields.find(({ type }) => type === 'password') ?? fields[0];
  // A form that went away under the look: the next reading tells.
  return field !== undefined && (await holdsText(page, field).catch(() => true));
}

async function holdsText(page: Page, field: ReadField): Promise<boolean> {
  const frame = await frameOf(page, field);
  return (await frame.locator(field.selector).first().evaluate(lengthOfValue, null, { timeout: 1000 })) > 0;
}
