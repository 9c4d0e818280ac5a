import type { EnterInput, EnterOutcome, LoginTarget } from '../../../contract/activities.ts';
import type { PageReading } from '../../../contract/reading.ts';
import type { Frame, Page } from 'playwright-core';
import { failure } from '../../activity.ts';
import { authorUrl, maySendTo, mayTypeInto, mayTypeStored } from '../allowed-sites.ts';
import { isProvedSoon } from '../captcha/form-captcha.ts';
import { aboutCaptcha } from '../captcha/solve.ts';
import { credentialFactsFor } from '../credentials/attached-credential.ts';
import type { LoginDeps } from '../deps.ts';
import { isSecret, keepForLater, keepTyped, openValues, type OpenedValue } from '../credentials/entry-values.ts';
import { bringToFront, fillField, untilStays } from './fill-field.ts';
import { holdPage, type HeldPage } from './page-guard.ts';
import type { Passkeys } from '../credentials/passkeys.ts';
import { keepOnSite, watchWindows, withChosenWindow } from '../session/windows.ts';
import { frameOf, type Hands } from './page-input.ts';
import { leaveField, pressSubmit, takeChoice, tickBoxes } from './press.ts';
import { countInputs, markHeld, readAfterEntering, type Answered } from '../reading/read-after-entering.ts';
import { waitForRequestsToSettle, requestsUnderWay } from '../reading/traffic.ts';
import { pageIdOf } from '../session/cdp-session.ts';
import { asTyped } from '../credentials/pending-credential.ts';
import { rememberTyped, spellingsInRequests, spellingsOfSecrets } from './typed-secrets.ts';

/**
 * Types one answer into the page and presses its button, at most once: the ledger is claimed before the first key, so
 * that a second run of the same entering types nothing. Where a field sits is checked before anything is claimed.
 */
export async function enterAnswer(
  deps: LoginDeps,
  passkeys: Passkeys,
  input: EnterInput,
  signal: AbortSignal,
): Promise<EnterOutcome> {
  const { target, answer } = input;
  const page = await deps.pages.of(target.projectId, input.sessionId);
  const hands: Hands = {
    page,
    service: deps.service,
    computer: { projectId: target.projectId, sessionId: input.sessionId, pageId: await pageIdOf(page) },
  };
  // Nobody acts on the page any more, and the site's answer may lead anywhere.
  await keepOnSite(page, target, false);
  watchWindows(page, target);
  const [first] = answer.entries;
  if (first !== undefined && !(await isProvedSoon(page, first.field, false, signal))) throw unproved();
  const values = await openValues(deps, input, page, signal);
  const secrets = values.filter(isSecret).map(({ text }) => text);
  const spellings = spellingsOfSecrets(secrets);
  rememberTyped(page, spellings);
  const sent = [...spellings, ...spellingsInRequests(secrets)];
  const held = secrets.length > 0 ? await holdFor(deps, page, values, sent, target) : null;
  try {
    return await enterHeld(deps, passkeys, input, { page, hands, values, held }, signal);
  } finally {
    await held?.end();
  }
}

/** What an entering works with. `held`: keeps the page where it is; null where nothing secret is typed. */
interface Entering {
  page: Page;
  hands: Hands;
  values: OpenedValue[];
  held: HeldPage | null;
}

async function enterHeld(
  deps: LoginDeps,
  passkeys: Passkeys,
  input: EnterInput,
  { page, hands, values, held }: Entering,
  signal: AbortSignal,
): Promise<EnterOutcome> {
  const { target, flowId, entryId, answer } = input;
  const [first] = answer.entries;
  const at = page.url();
  const origins: string[] = [];
  for (const value of values)
    origins.push(refuseWrongSite(deps, page, await frameOf(page, value.entry.field), value, target));
  const claimed = await deps.store.typingLedger.claim({
    connectionId: target.connectionId,
    flowId,
    interactionId: entryId,
    ...(input.submissionId === null ? {} : { submissionId: input.submissionId }),
  });
  if (!claimed)
    throw failure('entry_uncertain', 'this answer was entered before; its outcome is read from the page', true);
  for (const value of values) {
    refuseWhenLate(signal);
    await fillField(hands, value.entry.field, value.text, (frame) => {
      refuseWrongSite(deps, page, frame, value, target);
    });
  }
  const [isMine, inputs] = await Promise.all([
    deps.store.typingLedger.advance(flowId, entryId, 'typed'),
    countInputs(page),
  ]);
  if (!isMine) throw abandoned();
  if (first !== undefined && !(await isProvedSoon(page, first.field, true, signal))) {
    await takeBack(deps, hands, input, signal);
    throw unproved();
  }
  const typedId = await keepTyped(deps, input, values, origins);
  // From here on nobody needs the submission: what is kept for the credential is kept apart.
  if (input.submissionId !== null) await deps.store.submissions.destroy(input.submissionId);
  const before = page.url();
  const underWay = requestsUnderWay(page);
  if (answer.choice?.uses === 'new_passkey') await passkeys.allowCreation(target, input.sessionId);
  const press = async (): Promise<void> => {
    refuseWhenLate(signal);
    if (!(await deps.store.typingLedger.advance(flowId, entryId, 'pressed'))) throw abandoned();
    if (isCovered(page)) await bringToFront(page);
    held?.letGo();
    if (answer.choice !== null) {
      await tickBoxes(hands, answer.choice.ticks ?? []);
      await takeChoice(hands, answer.choice, answer.submit);
    } else if (!(await hasGoneByItself(page, at, answer))) {
      await pressSubmit(hands, answer.submit);
      if (answer.submit === null) await leaveField(hands, answer.entries);
    }
  };
  const settled = (): Promise<void> => waitForRequestsToSettle(page, press, signal);
  await (mayOpenProvider(answer) ? withChosenWindow(page, settled) : settled());
  await held?.end();
  if (held?.hasRefused() === true) throw wrongSite();
  if (answer.choice?.uses === 'passkey' || answer.choice?.uses === 'new_passkey') await untilLedOn(page, before);
  const seen = await readAfterEntering(
    deps,
    target,
    input.sessionId,
    answered(answer),
    { page, inputs, underWay },
    signal,
  );
  // Where the login itself was kept from going, the form has no answer.
  if (held?.hasRefusedBeside() === true && asksAgain(seen, answer)) throw wrongSite();
  const reading = await markHeld(deps, input, seen);
  const created = await passkeys.takeCreated(target, input.sessionId);
  const keptId = await keepForLater(deps, input, typedId, created.map(asTyped));
  await deps.store.typingLedger.advance(flowId, entryId, 'observed');
  const now = await deps.pages.of(target.projectId, input.sessionId);
  await keepOnSite(now, target, reading.kind === 'captcha');
  return {
    reading,
    credential: await credentialFactsFor(deps, target, now, reading.fields),
    ...(await aboutCaptcha(deps, input, reading)),
    keptId,
  };
}

/** The last digit of a code sends many a form by itself: what has come from another address has no button of that form. */
async function hasGoneByItself(page: Page, at: string, { entries, submit }: EnterInput['answer']): Promise<boolean> {
  // The page of a password is held where it is until the press.
  if (submit === null || submit.frame.length > 0 || entries.some(({ field }) => field.type === 'password'))
    return false;
  await untilStays(page.mainFrame());
  if (page.url() === at) return false;
  const left = await page
    .locator(submit.selector)
    .count()
    .catch(() => null);
  return left === 0;
}

function answered({ entries, choice }: EnterInput['answer']): Answered {
  if (entries.length > 0 || choice?.type === 'other' || choice?.uses === 'passkey') return 'login';
  return choice?.type === 'sso_provider' || choice?.type === 'account' ? 'who' : 'way';
}

function asksAgain({ kind, fields }: PageReading, { entries }: EnterInput['answer']): boolean {
  return kind === 'form' && fields.some(({ name }) => entries.some(({ field }) => field.name === name));
}

/** Whether an answer chooses by whom to sign in: that may be a company's own provider, on a site that nobody has named. */
function mayOpenProvider({ choice }: EnterInput['answer']): boolean {
  return choice?.type === 'sso_provider' || choice?.type === 'sign_in_method';
}

/** How long a site may take from the press to the page behind its passkey, in milliseconds. */
const CEREMONY_WITHIN_MS = 8_000;

/** Between the requests of a ceremony the page is quiet, and still looks as if nothing had been pressed. */
async function untilLedOn(page: Page, before: string): Promise<void> {
  const options = { timeout: CEREMONY_WITHIN_MS, waitUntil: 'commit' } as const;
  // A site that refuses the passkey, or leads on without an address of its own, is read as it is then.
  await page.waitForURL(({ href }) => href !== before, options).catch(() => undefined);
}

/** The workflow has given this run up (a stall of seconds is enough): it may have asked the person again by now. */
function refuseWhenLate(signal: AbortSignal): void {
  if (signal.aborted) throw abandoned();
}

function unproved(): Error {
  return failure('captcha_unanswered', 'a captcha beside the fields has no answer; nothing was sent', true);
}

/**
 * Leaves a form that was filled in and cannot be sent: a captcha has come up, or its answer has expired. Whoever gives it that answer
 * finds no password in the form, to be sent by another press than the one that the ledger counts.
 */
async function takeBack(deps: LoginDeps, hands: Hands, input: EnterInput, signal: AbortSignal): Promise<void> {
  for (const { field } of input.answer.entries) {
    refuseWhenLate(signal);
    if (field.type === 'password') await fillField(hands, field, '');
  }
  if (!(await deps.store.typingLedger.release(input.flowId, input.entryId))) throw abandoned();
}

function abandoned(): Error {
  return failure('entry_uncertain', 'this entering was given up; its outcome is read from the page', true);
}

/**
 * Refuses a field on a site that may not be typed into, or not with this value; answers the origin of the document that
 * holds the field, as the browser has it at this moment.
 */
function refuseWrongSite(
  deps: LoginDeps,
  page: Page,
  frame: Frame,
  { owner }: OpenedValue,
  target: LoginTarget,
): string {
  const url = authorUrl(frame);
  const isAllowed = mayTypeInto(url, target, deps.egress) && mayTypeInto(page.url(), target, deps.egress);
  if (!isAllowed || (owner !== null && !mayTypeStored(url, owner, target, deps.egress))) throw wrongSite();
  return new URL(url).origin;
}

function wrongSite(): Error {
  return failure(
    'domain_not_allowed',
    'a field of the login form sits on, or sends to, a site that is not allowed',
    true,
  );
}

/** Holds the page for as long as it is filled in; its forms may send what is typed to where it may be typed. */
async function holdFor(
  deps: LoginDeps,
  page: Page,
  values: readonly OpenedValue[],
  secrets: readonly string[],
  target: LoginTarget,
): Promise<HeldPage> {
  const frames = await Promise.all(values.map(({ entry }) => frameOf(page, entry.field)));
  const from = frames.map(authorUrl);
  // The last digit of a code sends many a form by itself, and that is to go on.
  const stays = values.some(({ entry }) => entry.field.type === 'password');
  return await holdPage(page, {
    frames: stays ? frames : [],
    secrets,
    mayCarryTo: (url) => from.every((document) => maySendTo(url, document, target, deps.egress)),
  });
}

/** True where other windows have opened over the page. */
function isCovered(page: Page): boolean {
  return page.context().pages().at(-1) !== page;
}
