import type { Page, Request } from 'playwright-core';
import type { EnterInput, LoginTarget } from '../../../contract/activities.ts';
import { asksForCode } from '../../../contract/code-fields.ts';
import type { PageReading, ReadField } from '../../../contract/reading.ts';
import type { LoginDeps } from '../deps.ts';
import { resolveFrame } from '../entering/page-input.ts';
import { valueLength } from '../entering/page-functions.ts';
import { collectFrames } from './frames.ts';
import { isAuthorizationResponse, isAuthorizationRequest } from '../urls.ts';
import { isSameSite } from '../../../contract/site-hosts.ts';
import { readOffers } from '../../../reader/offers.ts';
import { asksForLogin, readAnonymously } from '../checks/verdict.ts';
import { readLogin } from './read-login.ts';
import type { ReadPreferences } from './read-page.ts';
import { requestsInFlight } from './traffic.ts';
import { redactTypedSecrets } from '../entering/typed-secrets.ts';

/** How long a site may still take to answer what a lost worker has sent, in milliseconds. */
const LATE_ANSWER_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 500;
/** How long a form that stays as it was filled in may still wait for its answer, in milliseconds. */
const STILL_FILLED_WITHIN_MS = 6_000;
/**
 * The same while the site has not answered what was asked of it since the press, in milliseconds: with the time that the press itself
 * is given, longer than gateways wait for the servers behind them. The activity ends at two minutes.
 */
const ANSWERS_WITHIN_MS = 45_000;
/** How long a script may take from one answer to its next request, or to what it shows, in milliseconds. */
const GOES_ON_WITHIN_MS = 2_000;
/** How long an application that is starting (a blank page, one that says to wait) may take after a login, in milliseconds. */
const STARTS_WITHIN_MS = 30_000;
/** How long an answered authorization request may take to lead back to who made it, in milliseconds. */
const LEADS_BACK_WITHIN_MS = 20_000;
/** How long an application may take to redeem a provider's answer, in milliseconds; some leave it in their address for good. */
const REDEEMS_WITHIN_MS = 5_000;
/** How long a provider's window that has nothing more to ask may stay open, in milliseconds. */
const WINDOW_CLOSES_WITHIN_MS = 3_000;
/** How many windows may close, one after the other, while they are read. */
const MAX_WINDOWS = 3;

/** The page that an answer was entered on, as it was before the press. */
export interface PageBefore {
  page: Page;
  /** What {@link countVisibleInputs} said. */
  inputs: number;
  /** What the page waited for already, by {@link requestsInFlight}. */
  underWay: ReadonlySet<Request>;
}

/** What an answer was: a way to sign in, whom to sign in as (or by which provider), or the login itself. */
export type Answered = 'way' | 'who' | 'login';

/**
 * Reads the page that an answer led to, which may be the site's inside. `answered`: what the answer was: a way to sign in
 * leads to a form, a provider or an account perhaps inside at once, what was typed or said to a question after it inside.
 * `before`: where it was entered; null where nobody has looked before the press.
 */
export async function readAfterEntering(
  deps: Pick<LoginDeps, 'pages' | 'service' | 'model'>,
  target: Pick<LoginTarget, 'projectId' | 'browser' | 'domain' | 'forms'>,
  sessionId: string,
  answered: Answered,
  before: PageBefore | null,
  signal: AbortSignal,
): Promise<PageReading> {
  const began = Date.now();
  const judgement = { chosen: target.forms, model: deps.model, stopWhenIdle: answered !== 'way' };
  let { page, reading } = await readNewest(deps, target.projectId, sessionId, judgement);
  let owedAt = -Infinity;
  // A script has the answer and leads on in a moment, or a slow one has not told of the refusal yet.
  for (;;) {
    const passed = Date.now() - began;
    if (isResponsePending(page, before)) owedAt = passed;
    const isOwed = passed < ANSWERS_WITHIN_MS && passed < owedAt + GOES_ON_WITHIN_MS;
    const mayChange = isOwed
      ? isFormWithoutError(reading)
      : passed < STILL_FILLED_WITHIN_MS && isUnansweredPasswordForm(reading);
    const isPending =
      (passed < STILL_FILLED_WITHIN_MS && isAwaitingOpener(reading, before)) ||
      (mayChange && !(await hasAddedCodeField(page, reading, before)) && (await isFilled(page, reading)));
    const isStarting = reading.kind === 'unavailable' && passed < STARTS_WITHIN_MS;
    if (
      answered === 'way' ||
      signal.aborted ||
      !(isPending || isStarting || (await isMidAuthorization(page, reading, passed)))
    )
      break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    ({ page, reading } = await readNewest(deps, target.projectId, sessionId, judgement));
  }
  const neutral = reading.kind === 'other' && reading.website_error === null;
  if (answered === 'way' || !neutral) return reading;
  if (await closesSoon(page)) return await readAfterEntering(deps, target, sessionId, answered, before, signal);
  const offers = readOffers(await collectFrames(page));
  if (offers.length > 0) return redactTypedSecrets(page, { ...reading, kind: 'choice', choices: offers, submit: null });
  // After an answer, a page that neither asks nor complains and offers no sign-in is the site's inside. Where it does, a
  // visitor whom nobody knows tells: who is led away from there, or asked to log in, sees another page than this one.
  if (answered === 'who' && !isSameSite(page.url(), `https://${target.domain}/`)) return reading;
  if (reading.sign_in_link === null) return { ...reading, kind: 'logged_in' };
  const url = page.url();
  const strangers = await readAnonymously(deps, target, `${sessionId}-stranger`, url, signal).catch(() => null);
  const isOutside = strangers === null || (strangers.kind === 'other' && pathOf(strangers.url) === pathOf(url));
  return isOutside || !asksForLogin(strangers) ? reading : { ...reading, kind: 'logged_in' };
}

/** Reads the page that a person would look at now: a provider's window may have opened, and may close while it is read. */
async function readNewest(
  { pages }: Pick<LoginDeps, 'pages'>,
  projectId: string,
  sessionId: string,
  judgement: ReadPreferences,
): Promise<{ page: Page; reading: PageReading }> {
  for (let windows = 0; ; windows += 1) {
    const page = await pages.of(projectId, sessionId);
    try {
      return { page, reading: await readLogin(page, judgement) };
    } catch (error) {
      if (!page.isClosed() || windows === MAX_WINDOWS) throw error;
    }
  }
}

/**
 * True of a page between a provider and who asked it, `passed` milliseconds after the press: an authorization request that asks
 * for nothing more is nobody's inside and leads back in a moment, and a provider's answer has still to be redeemed.
 */
async function isMidAuthorization(
  page: Page,
  { kind, website_error: error }: PageReading,
  passed: number,
): Promise<boolean> {
  if (kind !== 'other' && kind !== 'logged_in') return false;
  if (passed < REDEEMS_WITHIN_MS && isAuthorizationResponse(page.url())) return true;
  if (passed >= LEADS_BACK_WITHIN_MS || error !== null || !isAuthorizationRequest(page.url())) return false;
  return readOffers(await collectFrames(page)).length === 0;
}

/** True when a window that another page opened goes away by itself: what it has to say, it says to that page. */
async function closesSoon(page: Page): Promise<boolean> {
  if ((await page.opener().catch(() => null)) === null) return false;
  if (!page.isClosed()) await page.waitForEvent('close', { timeout: WINDOW_CLOSES_WITHIN_MS }).catch(() => undefined);
  return page.isClosed();
}

/** How many inputs of the page and its frames can be seen. */
export async function countVisibleInputs(page: Page): Promise<number> {
  const counts = page.frames().map((frame) =>
    frame
      .locator('input:visible')
      .count()
      .catch(() => 0),
  );
  return (await Promise.all(counts)).reduce((sum, each) => sum + each, 0);
}

/** True where the form has grown by the field of a code: that is the site's answer, although all else stays filled in. */
async function hasAddedCodeField(page: Page, { fields }: PageReading, before: PageBefore | null): Promise<boolean> {
  return before !== null && fields.some(isCode) && (await countVisibleInputs(page)) > before.inputs;
}

/** True while the page that opened a provider's window shows what it did, and the window has closed: it has just been told. */
function isAwaitingOpener({ kind, website_error: error }: PageReading, before: PageBefore | null): boolean {
  return before?.page.isClosed() === true && (kind === 'form' || kind === 'choice') && error === null;
}

function isCode({ type }: ReadField): boolean {
  return asksForCode(type);
}

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : '';
}

/**
 * Where a code is asked for in the very form that was just filled in, the fields that still hold what was typed are marked:
 * typing into them again would take the code field away.
 */
export async function markFilledFields(
  deps: Pick<LoginDeps, 'pages'>,
  { target, sessionId, answer }: Pick<EnterInput, 'target' | 'sessionId' | 'answer'>,
  reading: PageReading,
): Promise<PageReading> {
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

function isUnansweredPasswordForm(reading: PageReading): boolean {
  return isFormWithoutError(reading) && reading.fields.some(({ type }) => type === 'password');
}

function isFormWithoutError({ kind, website_error: error }: PageReading): boolean {
  return kind === 'form' && error === null;
}

/**
 * True while the page waits for what it has asked its servers since the press: one that looks as it was filled in has not been
 * answered then. What it waited for before has nothing to do with the press.
 */
function isResponsePending(page: Page, before: PageBefore | null): boolean {
  if (before?.page !== page) return false;
  return [...requestsInFlight(page)].some((request) => !before.underWay.has(request));
}

/**
 * Reads the page for a worker that was lost between its press and the site's answer. While the form still holds what was
 * typed, the answer is likely to be on its way: asking again at once would have the person send the password twice.
 */
export async function readAfterLostWorker(
  deps: LoginDeps,
  target: LoginTarget,
  sessionId: string,
  signal: AbortSignal,
): Promise<PageReading> {
  const end = Date.now() + LATE_ANSWER_WITHIN_MS;
  for (;;) {
    const reading = await readAfterEntering(deps, target, sessionId, 'login', null, signal);
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
  const frame = await resolveFrame(page, field);
  return (await frame.locator(field.selector).first().evaluate(valueLength, null, { timeout: 1000 })) > 0;
}
