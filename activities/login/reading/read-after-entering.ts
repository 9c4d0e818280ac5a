import { setTimeout as sleep } from 'node:timers/promises';
import type { Page, Request } from 'playwright-core';
import type { EnterInput, LoginTarget } from '../../../contract/activities.ts';
import { asksForCode } from '../../../contract/code-fields.ts';
import type { PageReading, ReadField } from '../../../contract/reading.ts';
import type { LoginDeps } from '../deps.ts';
import { resolveFrame } from '../entering/page-input.ts';
import { validationFault, valueLength } from '../entering/page-functions.ts';
import { collectFrames } from './frames.ts';
import { isAuthorizationResponse, isAuthorizationRequest } from '../urls.ts';
import { isSameSite } from '../../../contract/site-hosts.ts';
import { readInterstitial } from '../../../reader/choices/interstitials.ts';
import { readFollowUpForm } from '../../../reader/form/follow-up-form.ts';
import { isRefusal, readLoginRefusal } from '../../../reader/signs/website-error.ts';
import { asksForLogin, readAnonymously } from '../checks/verdict.ts';
import { followSignInLink } from '../find-login-page.ts';
import { goTo, readLogin } from './read-login.ts';
import type { ReadPreferences } from './read-page.ts';
import { requestsInFlight } from './traffic.ts';
import { redactTypedSecrets } from '../entering/typed-secrets.ts';

/** How long a site may still take to answer what a lost worker has submitted, in milliseconds. */
const LATE_ANSWER_TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 500;
/** How long a form that is still filled in may wait for its answer, in milliseconds. */
const STILL_FILLED_TIMEOUT_MS = 6_000;
/**
 * The same while requests made since the press are pending, in milliseconds. Together with the time allowed for the press this is
 * longer than gateways wait for their upstreams. The activity times out after two minutes.
 */
const RESPONSE_TIMEOUT_MS = 45_000;
/** How long a script may take from one response to its next request, or to showing a result, in milliseconds. */
const SCRIPT_PAUSE_MS = 2_000;
/** How long an application may take to start after a login (a blank page or one that says to wait), in milliseconds. */
const START_TIMEOUT_MS = 30_000;
/** How long an answered authorization request may take to redirect back to the client, in milliseconds. */
const REDIRECT_TIMEOUT_MS = 20_000;
/** How long an application may take to redeem an authorization response, in milliseconds; some leave it in their URL for good. */
const REDEEM_TIMEOUT_MS = 5_000;
/** How long a provider's popup that asks for nothing more may stay open, in milliseconds. */
const POPUP_CLOSE_TIMEOUT_MS = 3_000;
const MAX_CLOSED_WINDOWS = 3;

/** The page that an answer was entered on, as it was before the press. */
export interface PageBefore {
  page: Page;
  url: string;
  /** From {@link countVisibleInputs}. */
  inputs: number;
  /** From {@link requestsInFlight}. */
  inFlight: ReadonlySet<Request>;
  /** The error that it showed. */
  error: string | null;
  /** Messages of alert boxes since the typing began; those that the press opens are added. */
  alerts: readonly string[];
}

/** What an answer chose or gave: a sign-in method, an account or provider, or the login itself. */
export type AnswerKind = 'method' | 'account' | 'login';

/**
 * Reads the page that an answer led to, which may be signed in. A sign-in method leads to a form; an account or provider may lead
 * to a signed-in page; typed values, and answers to a question after them, usually do. `before` is null if the page was not looked
 * at before the press.
 */
export async function readAfterEntering(
  deps: Pick<LoginDeps, 'pages' | 'service' | 'model'>,
  target: Pick<LoginTarget, 'projectId' | 'browser' | 'domain' | 'forms'>,
  sessionId: string,
  answered: AnswerKind,
  before: PageBefore | null,
  signal: AbortSignal,
): Promise<PageReading> {
  const startedAt = Date.now();
  const preferences = { chosen: target.forms, model: deps.model, stopWhenIdle: answered !== 'method' };
  let { page, reading } = await readNewest(deps, target.projectId, sessionId, preferences);
  const fault = (await submissionFault(page, before)) ?? before?.alerts.findLast(isRefusal) ?? null;
  if (fault !== null && isFormWithoutError(reading))
    return redactTypedSecrets(page, { ...reading, website_error: fault });
  let lastPendingAt = -Infinity;
  // A script may have the response and navigate in a moment, or a slow one may not have shown the rejection yet.
  for (;;) {
    const elapsed = Date.now() - startedAt;
    if (isResponsePending(page, before)) lastPendingAt = elapsed;
    const isResponding = elapsed < RESPONSE_TIMEOUT_MS && elapsed < lastPendingAt + SCRIPT_PAUSE_MS;
    const isOld = showsOldError(reading, before);
    const unanswered = isOld ? { ...reading, website_error: null } : reading;
    const mayChange = isResponding
      ? isFormWithoutError(unanswered)
      : elapsed < (isOld ? SCRIPT_PAUSE_MS : STILL_FILLED_TIMEOUT_MS) && isUnansweredPasswordForm(unanswered);
    const isPending =
      (elapsed < STILL_FILLED_TIMEOUT_MS && isAwaitingOpener(reading, before)) ||
      (mayChange && !(await hasAddedCodeField(page, reading, before)) && (await isFilled(page, reading)));
    const isStarting = reading.kind === 'unavailable' && elapsed < START_TIMEOUT_MS;
    if (answered === 'method' || signal.aborted) break;
    if (!(isPending || isStarting || (await isMidAuthorization(page, reading, elapsed)))) break;
    await sleep(POLL_INTERVAL_MS);
    ({ page, reading } = await readNewest(deps, target.projectId, sessionId, preferences));
  }
  if (answered === 'method' || reading.kind !== 'other') return reading;
  if (await closesSoon(page)) return await readAfterEntering(deps, target, sessionId, answered, before, signal);
  const frames = await collectFrames(page);
  const followUp = readFollowUpForm(frames);
  if (followUp !== null) return redactTypedSecrets(page, { ...reading, kind: 'form', ...followUp, sign_in_link: null });
  if (showsOldError(reading, before)) reading = { ...reading, website_error: null };
  const refusal = readLoginRefusal(frames, reading.website_error);
  if (refusal !== null && refusal !== before?.error && reading.lock_out === undefined) {
    const canReopen = answered === 'login' && before !== null;
    const form = canReopen ? await reopenForm(page, before.url, reading.sign_in_link, preferences) : null;
    return redactTypedSecrets(page, { ...(form ?? reading), website_error: refusal });
  }
  if (reading.website_error !== null) return reading;
  const offers = readInterstitial(frames);
  if (offers.length > 0) return redactTypedSecrets(page, { ...reading, kind: 'choice', choices: offers, submit: null });
  // After an answer, a page that asks for nothing, shows no error, and offers no sign-in is signed in. If it offers sign-in, the
  // same page is read anonymously: it is signed in if an anonymous visitor is redirected or asked to log in.
  if (answered === 'account' && !isSameSite(page.url(), `https://${target.domain}/`)) return reading;
  if (reading.sign_in_link === null) return { ...reading, kind: 'logged_in' };
  const url = page.url();
  const anonymous = await readAnonymously(deps, target, `${sessionId}-stranger`, url, signal).catch(() => null);
  const isPublic = anonymous === null || (anonymous.kind === 'other' && pathOf(anonymous.url) === pathOf(url));
  return isPublic || !asksForLogin(anonymous) ? reading : { ...reading, kind: 'logged_in' };
}

/**
 * Opens the login form again after a page that refused the login without showing it: at the form's URL, else by the page's sign-in
 * link. Null if neither shows a form.
 */
async function reopenForm(
  page: Page,
  url: string,
  link: PageReading['sign_in_link'],
  preferences: ReadPreferences,
): Promise<PageReading | null> {
  await goTo(page, url);
  const atUrl = await readLogin(page, preferences);
  if (atUrl.kind === 'form') return atUrl;
  // A button of the refusal page no longer exists.
  const linked = typeof link?.href === 'string' ? await followSignInLink(page, link, preferences) : atUrl;
  return linked.kind === 'form' ? linked : null;
}

/** Why the browser did not submit the form, which is still in front; null if it did. */
async function submissionFault(page: Page, before: PageBefore | null): Promise<string | null> {
  if (before?.page !== page || page.url() !== before.url) return null;
  return await page.evaluate(validationFault).catch(() => null);
}

/** Reads the page in front. A provider's popup may have opened, and may close while it is read. */
async function readNewest(
  { pages }: Pick<LoginDeps, 'pages'>,
  projectId: string,
  sessionId: string,
  preferences: ReadPreferences,
): Promise<{ page: Page; reading: PageReading }> {
  for (let closed = 0; ; closed += 1) {
    const page = await pages.of(projectId, sessionId);
    try {
      return { page, reading: await readLogin(page, preferences) };
    } catch (error) {
      if (!page.isClosed() || closed === MAX_CLOSED_WINDOWS) throw error;
    }
  }
}

/**
 * True while a page is between a provider and its client, `elapsed` milliseconds after the press: an authorization request that
 * asks for nothing more redirects in a moment, and an authorization response has yet to be redeemed.
 */
async function isMidAuthorization(
  page: Page,
  { kind, website_error: error }: PageReading,
  elapsed: number,
): Promise<boolean> {
  if (kind !== 'other' && kind !== 'logged_in') return false;
  if (elapsed < REDEEM_TIMEOUT_MS && isAuthorizationResponse(page.url())) return true;
  if (elapsed >= REDIRECT_TIMEOUT_MS || error !== null || !isAuthorizationRequest(page.url())) return false;
  return readInterstitial(await collectFrames(page)).length === 0;
}

/** Whether a popup closes by itself. Its result is shown by the page that opened it. */
async function closesSoon(page: Page): Promise<boolean> {
  if ((await page.opener().catch(() => null)) === null) return false;
  if (!page.isClosed()) await page.waitForEvent('close', { timeout: POPUP_CLOSE_TIMEOUT_MS }).catch(() => undefined);
  return page.isClosed();
}

/** Counts the visible inputs of a page and its frames. */
export async function countVisibleInputs(page: Page): Promise<number> {
  const counts = page.frames().map((frame) =>
    frame
      .locator('input:visible')
      .count()
      .catch(() => 0),
  );
  return (await Promise.all(counts)).reduce((sum, each) => sum + each, 0);
}

/** True for an error that was there before the answer: a notice may stay for a while, also over the inside. */
export function showsOldError({ website_error: error }: PageReading, before: PageBefore | null): boolean {
  return error !== null && error === before?.error;
}

/** Whether the form has gained a code field: that is the site's answer, even if the other fields are still filled in. */
async function hasAddedCodeField(page: Page, { fields }: PageReading, before: PageBefore | null): Promise<boolean> {
  return before !== null && fields.some(isCode) && (await countVisibleInputs(page)) > before.inputs;
}

/** True while the page that opened a provider's popup has not changed although the popup has closed. */
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
 * If a form has gained a code field, or a password below what was accepted, marks the fields that are still filled in: they need no
 * answer, and typing into them would remove it.
 */
export async function markFilledFields(
  deps: Pick<LoginDeps, 'pages'>,
  { target, sessionId, answer }: Pick<EnterInput, 'target' | 'sessionId' | 'answer'>,
  reading: PageReading,
): Promise<PageReading> {
  const takesPassword = reading.website_error !== null || answer.entries.some(({ field }) => field.type === 'password');
  const isNext = (field: ReadField): boolean => isCode(field) || (field.type === 'password' && !takesPassword);
  const hasNext = answer.entries.length > 0 && reading.fields.some(isNext);
  if (!hasNext || reading.fields.every(isNext)) return reading;
  const page = await deps.pages.of(target.projectId, sessionId);
  const fields = await Promise.all(
    reading.fields.map(async (field) =>
      !isNext(field) && (await holdsText(page, field).catch(() => false)) ? { ...field, held: true } : field,
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

/** True while requests that the page has made since the press are pending. Earlier ones have nothing to do with it. */
function isResponsePending(page: Page, before: PageBefore | null): boolean {
  if (before?.page !== page) return false;
  return [...requestsInFlight(page)].some((request) => !before.inFlight.has(request));
}

/**
 * Reads the page for a worker that was lost between its press and the site's answer. While the form still holds what was typed,
 * the answer is probably on its way: asking again at once would make the person submit the password twice.
 */
export async function readAfterLostWorker(
  deps: LoginDeps,
  target: LoginTarget,
  sessionId: string,
  signal: AbortSignal,
): Promise<PageReading> {
  const end = Date.now() + LATE_ANSWER_TIMEOUT_MS;
  for (;;) {
    const reading = await readAfterEntering(deps, target, sessionId, 'login', null, signal);
    if (reading.kind !== 'form' || Date.now() > end || signal.aborted) return reading;
    const page = await deps.pages.of(target.projectId, sessionId);
    if (!(await isFilled(page, reading))) return reading;
    await sleep(POLL_INTERVAL_MS);
  }
}

/** Whether the form's password field (or its first field) still holds text. */
async function isFilled(page: Page, { fields }: PageReading): Promise<boolean> {
  const field = fields.find(({ type }) => type === 'password') ?? fields[0];
  // If the form has gone meanwhile, the next reading tells.
  return field !== undefined && (await holdsText(page, field).catch(() => true));
}

async function holdsText(page: Page, field: ReadField): Promise<boolean> {
  const frame = await resolveFrame(page, field);
  return (await frame.locator(field.selector).first().evaluate(valueLength, null, { timeout: 1000 })) > 0;
}
