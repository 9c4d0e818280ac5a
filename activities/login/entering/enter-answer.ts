import type { EnterInput, EnterOutcome, LoginTarget } from '../../../contract/activities.ts';
import type { PageReading } from '../../../contract/reading.ts';
import type { Frame, Page } from 'playwright-core';
import { failure } from '../../activity.ts';
import { authorUrl, maySendTo, mayTypeInto, mayTypeStoredValue } from '../allowed-sites.ts';
import { waitForCaptchaAnswer } from '../captcha/form-captcha.ts';
import { observeCaptcha } from '../captcha/solve.ts';
import { credentialFactsForPage } from '../credentials/attached-credential.ts';
import type { LoginDeps } from '../deps.ts';
import {
  isSecret,
  addPendingValues,
  keepTypedValues,
  openValues,
  type OpenedValue,
} from '../credentials/entry-values.ts';
import { bringToFront, fillField, waitForPendingNavigation } from './fill-field.ts';
import { guardPage, type PageGuard } from './page-guard.ts';
import type { Passkeys } from '../credentials/passkeys.ts';
import { confineNavigation, closeForeignWindows, trustNewWindows } from '../session/windows.ts';
import { resolveFrame, type PageInput } from './page-input.ts';
import { blurLoneField, pressSubmit, selectChoice, checkBoxes } from './press.ts';
import {
  countVisibleInputs,
  markFilledFields,
  readAfterEntering,
  type Answered,
} from '../reading/read-after-entering.ts';
import { waitForRequestsToSettle, requestsInFlight } from '../reading/traffic.ts';
import { targetIdOf } from '../session/cdp-session.ts';
import { passkeyToTypedValue } from '../credentials/pending-credential.ts';
import { recordTypedSecrets, requestSpellings, secretSpellings } from './typed-secrets.ts';

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
  const pageInput: PageInput = {
    page,
    service: deps.service,
    computer: { projectId: target.projectId, sessionId: input.sessionId, pageId: await targetIdOf(page) },
  };
  // Nobody acts on the page any more, and the site's answer may lead anywhere.
  await confineNavigation(page, target, false);
  closeForeignWindows(page, target);
  const [first] = answer.entries;
  if (first !== undefined && !(await waitForCaptchaAnswer(page, first.field, false, signal))) throw unproved();
  const values = await openValues(deps, input, page, signal);
  const secrets = values.filter(isSecret).map(({ text }) => text);
  const spellings = secretSpellings(secrets);
  recordTypedSecrets(page, spellings);
  const sent = [...spellings, ...requestSpellings(secrets)];
  const held = secrets.length > 0 ? await guardEntry(deps, page, values, sent, target) : null;
  try {
    return await enterGuarded(deps, passkeys, input, { page, pageInput, values, held }, signal);
  } finally {
    await held?.end();
  }
}

/** What an entering works with. `held`: keeps the page where it is; null where nothing secret is typed. */
interface Entering {
  page: Page;
  pageInput: PageInput;
  values: OpenedValue[];
  held: PageGuard | null;
}

async function enterGuarded(
  deps: LoginDeps,
  passkeys: Passkeys,
  input: EnterInput,
  { page, pageInput, values, held }: Entering,
  signal: AbortSignal,
): Promise<EnterOutcome> {
  const { target, flowId, entryId, answer } = input;
  const [first] = answer.entries;
  const at = page.url();
  const origins: string[] = [];
  for (const value of values)
    origins.push(assertAllowedSite(deps, page, await resolveFrame(page, value.entry.field), value, target));
  const claimed = await deps.store.typingLedger.claim({
    connectionId: target.connectionId,
    flowId,
    interactionId: entryId,
    ...(input.submissionId === null ? {} : { submissionId: input.submissionId }),
  });
  if (!claimed)
    throw failure('entry_uncertain', 'this answer was entered before; its outcome is read from the page', true);
  for (const value of values) {
    assertNotAbandoned(signal);
    await fillField(pageInput, value.entry.field, value.text, (frame) => {
      assertAllowedSite(deps, page, frame, value, target);
    });
  }
  const [isMine, inputs] = await Promise.all([
    deps.store.typingLedger.advance(flowId, entryId, 'typed'),
    countVisibleInputs(page),
  ]);
  if (!isMine) throw entryAbandoned();
  if (first !== undefined && !(await waitForCaptchaAnswer(page, first.field, true, signal))) {
    await withdrawEntry(deps, pageInput, input, signal);
    throw unproved();
  }
  const typedId = await keepTypedValues(deps, input, values, origins);
  // From here on nobody needs the submission: what is kept for the credential is kept apart.
  if (input.submissionId !== null) await deps.store.submissions.destroy(input.submissionId);
  const before = page.url();
  const underWay = requestsInFlight(page);
  if (answer.choice?.uses === 'new_passkey') await passkeys.allowCreation(target, input.sessionId);
  const press = async (): Promise<void> => {
    assertNotAbandoned(signal);
    if (!(await deps.store.typingLedger.advance(flowId, entryId, 'pressed'))) throw entryAbandoned();
    if (hasNewerWindow(page)) await bringToFront(page);
    held?.allowNavigation();
    if (answer.choice !== null) {
      await checkBoxes(pageInput, answer.choice.ticks ?? []);
      await selectChoice(pageInput, answer.choice, answer.submit);
    } else if (!(await hasSubmittedItself(page, at, answer))) {
      await pressSubmit(pageInput, answer.submit);
      if (answer.submit === null) await blurLoneField(pageInput, answer.entries);
    }
  };
  const settled = (): Promise<void> => waitForRequestsToSettle(page, press, signal);
  await (choosesProvider(answer) ? trustNewWindows(page, settled) : settled());
  await held?.end();
  if (held?.hasBlockedForm() === true) throw siteNotAllowed();
  if (answer.choice?.uses === 'passkey' || answer.choice?.uses === 'new_passkey')
    await waitForPasskeyNavigation(page, before);
  const seen = await readAfterEntering(
    deps,
    target,
    input.sessionId,
    answered(answer),
    { page, inputs, underWay },
    signal,
  );
  // Where the login itself was kept from going, the form has no answer.
  if (held?.hasBlockedRequest() === true && asksForSameFields(seen, answer)) throw siteNotAllowed();
  const reading = await markFilledFields(deps, input, seen);
  const created = await passkeys.takeCreated(target, input.sessionId);
  const keptId = await addPendingValues(deps, input, typedId, created.map(passkeyToTypedValue));
  await deps.store.typingLedger.advance(flowId, entryId, 'observed');
  const now = await deps.pages.of(target.projectId, input.sessionId);
  await confineNavigation(now, target, reading.kind === 'captcha');
  return {
    reading,
    credential: await credentialFactsForPage(deps, target, now, reading.fields),
    ...(await observeCaptcha(deps, input, reading)),
    keptId,
  };
}

/** The last digit of a code sends many a form by itself: what has come from another address has no button of that form. */
async function hasSubmittedItself(page: Page, at: string, { entries, submit }: EnterInput['answer']): Promise<boolean> {
  // The page of a password is held where it is until the press.
  if (submit === null || submit.frame.length > 0 || entries.some(({ field }) => field.type === 'password'))
    return false;
  await waitForPendingNavigation(page.mainFrame());
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

function asksForSameFields({ kind, fields }: PageReading, { entries }: EnterInput['answer']): boolean {
  return kind === 'form' && fields.some(({ name }) => entries.some(({ field }) => field.name === name));
}

/** Whether an answer chooses by whom to sign in: that may be a company's own provider, on a site that nobody has named. */
function choosesProvider({ choice }: EnterInput['answer']): boolean {
  return choice?.type === 'sso_provider' || choice?.type === 'sign_in_method';
}

/** How long a site may take from the press to the page behind its passkey, in milliseconds. */
const CEREMONY_WITHIN_MS = 8_000;

/** Between the requests of a ceremony the page is quiet, and still looks as if nothing had been pressed. */
async function waitForPasskeyNavigation(page: Page, before: string): Promise<void> {
  const options = { timeout: CEREMONY_WITHIN_MS, waitUntil: 'commit' } as const;
  // A site that refuses the passkey, or leads on without an address of its own, is read as it is then.
  await page.waitForURL(({ href }) => href !== before, options).catch(() => undefined);
}

/** The workflow has given this run up (a stall of seconds is enough): it may have asked the person again by now. */
function assertNotAbandoned(signal: AbortSignal): void {
  if (signal.aborted) throw entryAbandoned();
}

function unproved(): Error {
  return failure('captcha_unanswered', 'a captcha beside the fields has no answer; nothing was sent', true);
}

/**
 * Leaves a form that was filled in and cannot be sent: a captcha has come up, or its answer has expired. Whoever gives it that answer
 * finds no password in the form, to be sent by another press than the one that the ledger counts.
 */
async function withdrawEntry(
  deps: LoginDeps,
  pageInput: PageInput,
  input: EnterInput,
  signal: AbortSignal,
): Promise<void> {
  for (const { field } of input.answer.entries) {
    assertNotAbandoned(signal);
    if (field.type === 'password') await fillField(pageInput, field, '');
  }
  if (!(await deps.store.typingLedger.release(input.flowId, input.entryId))) throw entryAbandoned();
}

function entryAbandoned(): Error {
  return failure('entry_uncertain', 'this entering was given up; its outcome is read from the page', true);
}

/**
 * Refuses a field on a site that may not be typed into, or not with this value; answers the origin of the document that
 * holds the field, as the browser has it at this moment.
 */
function assertAllowedSite(
  deps: LoginDeps,
  page: Page,
  frame: Frame,
  { owner }: OpenedValue,
  target: LoginTarget,
): string {
  const url = authorUrl(frame);
  const isAllowed = mayTypeInto(url, target, deps.egress) && mayTypeInto(page.url(), target, deps.egress);
  if (!isAllowed || (owner !== null && !mayTypeStoredValue(url, owner, target, deps.egress))) throw siteNotAllowed();
  return new URL(url).origin;
}

function siteNotAllowed(): Error {
  return failure(
    'domain_not_allowed',
    'a field of the login form sits on, or sends to, a site that is not allowed',
    true,
  );
}

/** Holds the page for as long as it is filled in; its forms may send what is typed to where it may be typed. */
async function guardEntry(
  deps: LoginDeps,
  page: Page,
  values: readonly OpenedValue[],
  secrets: readonly string[],
  target: LoginTarget,
): Promise<PageGuard> {
  const frames = await Promise.all(values.map(({ entry }) => resolveFrame(page, entry.field)));
  const from = frames.map(authorUrl);
  // The last digit of a code sends many a form by itself, and that is to go on.
  const stays = values.some(({ entry }) => entry.field.type === 'password');
  return await guardPage(page, {
    frames: stays ? frames : [],
    secrets,
    mayCarryTo: (url) => from.every((document) => maySendTo(url, document, target, deps.egress)),
  });
}

/** True where other windows have opened over the page. */
function hasNewerWindow(page: Page): boolean {
  return page.context().pages().at(-1) !== page;
}
