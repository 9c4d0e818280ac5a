import type { EnterInput, EnterOutcome, LoginTarget } from '../../../contract/activities.ts';
import type { PageReading } from '../../../contract/reading.ts';
import type { Frame, Page } from 'playwright-core';
import { failure } from '../../activity.ts';
import { authorUrl, maySendTo, mayTypeInto, mayTypeStoredValue } from '../allowed-sites.ts';
import { waitForCaptchaAnswer } from '../captcha/form-captcha.ts';
import { observeCaptcha } from '../captcha/solve.ts';
import { credentialFactsForPage } from '../credentials/attached-credential.ts';
import type { LoginDeps } from '../deps.ts';
import { isSecret, openValues, type OpenedValue } from '../credentials/entry-values.ts';
import { bringToFront, fillField } from './fill-field.ts';
import { hasSubmittedItself, isHeld } from './own-submit.ts';
import { guardPage, type PageGuard } from './page-guard.ts';
import type { Passkeys } from '../credentials/passkeys.ts';
import { type Alerts, recordAlerts } from '../session/alerts.ts';
import { confineNavigation, closeForeignWindows, trustNewWindows } from '../session/windows.ts';
import { resolveFrame, type PageInput, blurLoneField, pressSubmit, selectChoice, checkBoxes } from './page-input.ts';
import {
  countVisibleInputs,
  markFilledFields,
  readAfterEntering,
  showsOldError,
  type AnswerKind,
  type PageBefore,
} from '../reading/read-after-entering.ts';
import { readPage } from '../reading/read-page.ts';
import { waitForRequestsToSettle, requestsInFlight } from '../reading/traffic.ts';
import { targetIdOf } from '../session/cdp-session.ts';
import { addPendingValues, passkeyToTypedValue } from '../credentials/pending-credential.ts';
import { recordTypedSecrets, requestSpellings, secretSpellings } from './typed-secrets.ts';

/**
 * Types one answer into the page and submits it, at most once: the ledger is claimed before the first key, so a second run of the
 * same entry types nothing. The site of every field is checked before anything is claimed.
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
  // Nobody acts on the page any longer, and submitting may lead anywhere.
  await confineNavigation(page, target, false);
  closeForeignWindows(page, target);
  const [first] = answer.entries;
  if (first !== undefined && !(await waitForCaptchaAnswer(page, first.field, false, signal))) throw captchaUnanswered();
  const values = await openValues(deps, input, page, signal);
  const secrets = values.filter(isSecret).map(({ text }) => text);
  const spellings = secretSpellings(secrets);
  recordTypedSecrets(page, spellings);
  const pageGuard =
    secrets.length > 0
      ? await guardEntry(deps, page, values, [...spellings, ...requestSpellings(secrets)], target)
      : null;
  const alerts = recordAlerts(page);
  try {
    return await enterGuarded(deps, passkeys, input, values, pageInput, pageGuard, alerts, signal);
  } finally {
    alerts.stop();
    await pageGuard?.stop();
  }
}

async function enterGuarded(
  deps: LoginDeps,
  passkeys: Passkeys,
  input: EnterInput,
  values: readonly OpenedValue[],
  pageInput: PageInput,
  pageGuard: PageGuard | null,
  alerts: Alerts,
  signal: AbortSignal,
): Promise<EnterOutcome> {
  const { target, flowId, entryId, answer } = input;
  const { page } = pageInput;
  const { typingLedger, submissions } = deps.store;
  const [first] = answer.entries;
  const startUrl = page.url();
  const origins: string[] = [];
  for (const value of values)
    origins.push(assertAllowedSite(deps, page, await resolveFrame(page, value.entry.field), value, target));
  const [claimed, { website_error: errorBefore }] = await Promise.all([
    typingLedger.claim({
      connectionId: target.connectionId,
      flowId,
      interactionId: entryId,
      ...(input.submissionId === null ? {} : { submissionId: input.submissionId }),
    }),
    readPage(page),
  ]);
  if (!claimed)
    throw failure('entry_uncertain', 'this answer was already entered; its outcome is read from the page', true);
  for (const value of values) {
    assertNotAbandoned(signal);
    await fillField(pageInput, value.entry.field, value.text, (frame) => {
      assertAllowedSite(deps, page, frame, value, target);
    });
  }
  const [isStillOurs, inputs] = await Promise.all([
    typingLedger.advance(flowId, entryId, 'typed'),
    countVisibleInputs(page),
  ]);
  if (!isStillOurs) throw entryAbandoned();
  if (first !== undefined && !(await waitForCaptchaAnswer(page, first.field, true, signal))) {
    await withdrawEntry(deps, pageInput, input, signal);
    throw captchaUnanswered();
  }
  const typed = values.flatMap(({ pending }, index) =>
    pending === null ? [] : [{ ...pending, origin: origins[index] ?? '' }],
  );
  const typedId = await addPendingValues(deps.store, input, input.keptId, typed);
  // The submission is no longer needed: pending values are stored separately.
  if (input.submissionId !== null) await submissions.destroy(input.submissionId);
  const urlBeforePress = page.url();
  const before: PageBefore = {
    page,
    url: urlBeforePress,
    inputs,
    inFlight: requestsInFlight(page),
    error: errorBefore,
    alerts: alerts.messages,
  };
  if (answer.choice?.uses === 'new_passkey') await passkeys.allowCreation(target, input.sessionId);
  const press = async (): Promise<void> => {
    assertNotAbandoned(signal);
    if (!(await typingLedger.advance(flowId, entryId, 'pressed'))) throw entryAbandoned();
    if (hasNewerWindow(page)) await bringToFront(page);
    await pageGuard?.allowNavigation();
    if (answer.choice !== null) {
      await checkBoxes(pageInput, answer.choice.ticks ?? []);
      await selectChoice(pageInput, answer.choice, answer.submit);
      return;
    }
    const hasSubmitted = (): Promise<boolean> =>
      hasSubmittedItself(page, startUrl, answer, pageGuard?.hasSentSecret() === true);
    if (await hasSubmitted()) return;
    await pressSubmit(pageInput, answer.submit).catch(async (error: unknown) => {
      // It may have submitted itself only now.
      if (!(await hasSubmitted())) throw error;
    });
    if (answer.submit === null) await blurLoneField(pageInput, answer.entries);
  };
  const pressAndSettle = (): Promise<void> => waitForRequestsToSettle(page, press, signal);
  await (choosesProvider(answer) ? trustNewWindows(page, pressAndSettle) : pressAndSettle());
  await pageGuard?.stop();
  if (pageGuard?.hasBlockedForm() === true) throw siteNotAllowed();
  if (answer.choice?.uses === 'passkey' || answer.choice?.uses === 'new_passkey')
    await waitForPasskeyNavigation(page, urlBeforePress);
  const seen = await readAfterEntering(deps, target, input.sessionId, answerKind(answer), before, signal);
  // If the request that was blocked is the login itself, the form gets no response.
  if (pageGuard?.hasBlockedRequest() === true && asksForSameFields(seen, answer)) throw siteNotAllowed();
  const reading = await markFilledFields(deps, input, withoutOldError(seen, answer, before));
  const created = await passkeys.takeCreated(target, input.sessionId);
  const keptId = await addPendingValues(deps.store, input, typedId, created.map(passkeyToTypedValue));
  await typingLedger.advance(flowId, entryId, 'observed');
  const now = await deps.pages.of(target.projectId, input.sessionId);
  await confineNavigation(now, target, reading.kind === 'captcha');
  return {
    reading,
    credential: await credentialFactsForPage(deps, target, now, reading.fields),
    ...(await observeCaptcha(deps, input, reading)),
    keptId,
  };
}

function answerKind({ entries, choice }: EnterInput['answer']): AnswerKind {
  if (entries.length > 0 || choice?.type === 'other' || choice?.uses === 'passkey') return 'login';
  return choice?.type === 'sso_provider' || choice?.type === 'account' ? 'account' : 'method';
}

function asksForSameFields({ kind, fields }: PageReading, { entries }: EnterInput['answer']): boolean {
  return kind === 'form' && fields.some(({ name }) => entries.some(({ field }) => field.name === name));
}

/** The reading of a step that asks for something else, without an error that was there before the answer. */
function withoutOldError(reading: PageReading, answer: EnterInput['answer'], before: PageBefore): PageReading {
  const isNextStep = reading.kind === 'form' && !asksForSameFields(reading, answer);
  return isNextStep && showsOldError(reading, before) ? { ...reading, website_error: null } : reading;
}

/** Whether the answer chooses a provider. That may be a company's own, on a site that no setting names. */
function choosesProvider({ choice }: EnterInput['answer']): boolean {
  return choice?.type === 'sso_provider' || choice?.type === 'sign_in_method';
}

/** How long a site may take from the press to the page after its passkey prompt, in milliseconds. */
const PASSKEY_TIMEOUT_MS = 8_000;

/** Between the requests of a passkey ceremony the page is idle and looks as if nothing had been pressed. */
async function waitForPasskeyNavigation(page: Page, urlBefore: string): Promise<void> {
  const options = { timeout: PASSKEY_TIMEOUT_MS, waitUntil: 'commit' } as const;
  // If the site refuses the passkey, or continues without changing its URL, the page is read as it is.
  await page.waitForURL(({ href }) => href !== urlBefore, options).catch(() => undefined);
}

/** Once the workflow has given this run up (after a stall of seconds), it may already have asked the person again. */
function assertNotAbandoned(signal: AbortSignal): void {
  if (signal.aborted) throw entryAbandoned();
}

function captchaUnanswered(): Error {
  return failure('captcha_unanswered', 'a captcha in the form has not been solved; nothing was submitted', true);
}

/** Withdraws an entry stopped by a captcha. Clears passwords, which solving the captcha could submit without a ledger entry. */
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
  return failure('entry_uncertain', 'this entry was abandoned; its outcome is read from the page', true);
}

/** Throws if a value must not be typed into a frame's current document. Returns the origin of that document. */
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
    'a field of the login form is on, or submits to, a site that is not allowed',
    true,
  );
}

/** Guards the page while it is filled in. Its forms may send what is typed only where it may be typed. */
async function guardEntry(
  deps: LoginDeps,
  page: Page,
  values: readonly OpenedValue[],
  secrets: readonly string[],
  target: LoginTarget,
): Promise<PageGuard> {
  const frames = await Promise.all(values.map(({ entry }) => resolveFrame(page, entry.field)));
  const from = frames.map(authorUrl);
  const isPageHeld = values.some(({ entry }) => isHeld(entry));
  return await guardPage(page, {
    frames: isPageHeld ? frames : [],
    secrets,
    maySendTo: (url) => from.every((document) => maySendTo(url, document, target, deps.egress)),
  });
}

function hasNewerWindow(page: Page): boolean {
  return page.context().pages().at(-1) !== page;
}
