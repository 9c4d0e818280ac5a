import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { OpenLinkInput } from '../../contract/activities.ts';
import { MAILED_LINK } from '../../contract/answer-check.ts';
import type { PageReading } from '../../contract/reading.ts';
import { isOwnLink } from '../../contract/site-hosts.ts';
import { findConfirmButton } from '../../reader/choices/interstitials.ts';
import { mayTypeInto } from './allowed-sites.ts';
import type { LoginDeps } from './deps.ts';
import { failure } from '../activity.ts';
import { clickElement } from './entering/page-input.ts';
import { readAfterEntering } from './reading/read-after-entering.ts';
import { waitForRequestsToSettle } from './reading/traffic.ts';
import { openWindow } from './session/windows.ts';
import { readLogin } from './reading/read-login.ts';
import { collectFrames } from './reading/frames.ts';

/** How long the page that waits for the link may take to notice that it was opened, in milliseconds. */
const NOTICE_TIMEOUT_MS = 15_000;
const POLL_INTERVAL_MS = 500;
const OPEN_TIMEOUT_MS = 30_000;

/**
 * Opens a mailed sign-in link in a new tab of the session, at most once: the ledger is claimed before it is requested. A
 * confirmation button on its page is pressed. Returns the page that continues the login: the new tab, or the waiting page if the
 * link only signs that one in. A link that the site rejects is closed again. Fails with `domain_not_allowed` for other sites.
 */
export async function openMailedLink(
  deps: LoginDeps,
  { target, flowId, sessionId, entryId, submissionId, from }: OpenLinkInput,
  signal: AbortSignal,
): Promise<PageReading> {
  const link = (await deps.store.submissions.open(submissionId))?.values[MAILED_LINK];
  if (link === undefined)
    throw failure('submission_gone', 'the mailed link no longer exists; another one is awaited', true);
  if (!isOwnLink(link, target) || !mayTypeInto(link, target, deps.egress))
    throw failure('domain_not_allowed', 'the mailed link leads to a site that is not allowed', true);
  const waiting = await deps.pages.of(target.projectId, sessionId);
  const { connectionId } = target;
  if (!(await deps.store.typingLedger.claim({ connectionId, flowId, interactionId: entryId, submissionId })))
    throw failure('entry_uncertain', 'this link was already opened; its outcome is read from the page', true);
  await deps.store.submissions.destroy(submissionId);
  const opened = await openWindow(waiting.context());
  if (signal.aborted || !(await deps.store.typingLedger.advance(flowId, entryId, 'pressed')))
    throw failure('entry_uncertain', 'this link was abandoned; its outcome is read from the page', true);
  const reading = await readOpened(deps, { target, sessionId, from }, { waiting, opened }, link, signal);
  await deps.store.typingLedger.advance(flowId, entryId, 'observed');
  return reading;
}

async function readOpened(
  deps: LoginDeps,
  { target, sessionId, from }: Pick<OpenLinkInput, 'target' | 'sessionId' | 'from'>,
  { waiting, opened }: { waiting: Page; opened: Page },
  link: string,
  signal: AbortSignal,
): Promise<PageReading> {
  const preferences = { chosen: target.forms, model: deps.model };
  // The error would quote the URL, which is a secret.
  const response = await opened
    .goto(link, { waitUntil: 'domcontentloaded', timeout: OPEN_TIMEOUT_MS })
    .catch(() => null);
  let shown = await readLogin(opened, preferences);
  let isRejected = (response?.status() ?? 400) >= 400 || shown.website_error !== null;
  if (
    !isRejected &&
    CONFIRMATION_KINDS.has(shown.kind) &&
    (await pressOnlyStep(deps, { target, sessionId }, opened, signal))
  ) {
    shown = await readLogin(opened, preferences);
    const [top] = await collectFrames(opened);
    // A form that asks for the identifier again means that the link did not sign in.
    const startsOver = shown.kind === 'form' && shown.fields.some(({ type }) => type === 'identifier');
    isRejected = (top?.facts.status ?? 400) >= 400 || shown.website_error !== null || startsOver;
  }
  if (!isRejected && shown.kind !== 'other' && shown.kind !== 'external_action') return shown;
  await waiting.bringToFront();
  const noticed = isRejected ? await readLogin(waiting, preferences) : await waitForNotice();
  if (noticed !== null) {
    await opened.close();
    return noticed;
  }
  // The waiting page has not changed, so the link's page is taken for signed in; a fresh session verifies that at the end.
  return await readAfterEntering(deps, target, sessionId, 'login', null, signal);

  async function waitForNotice(): Promise<PageReading | null> {
    for (const end = Date.now() + NOTICE_TIMEOUT_MS; Date.now() < end && !signal.aborted;) {
      const seen = await readLogin(waiting, preferences);
      if (seen.kind !== from && seen.kind !== 'unavailable') return seen;
      await sleep(POLL_INTERVAL_MS);
    }
    return null;
  }
}

/** Kinds that a page with nothing but a confirmation button may be read as. */
const CONFIRMATION_KINDS = new Set<PageReading['kind']>(['other', 'choice', 'external_action']);

/** Presses the only button of a mailed link's page if it leads to the connection's own site; false if there is none. */
async function pressOnlyStep(
  { service }: Pick<LoginDeps, 'service'>,
  { target, sessionId }: Pick<OpenLinkInput, 'target' | 'sessionId'>,
  page: Page,
  signal: AbortSignal,
): Promise<boolean> {
  const step = findConfirmButton(await collectFrames(page));
  if (step === null || !isOwnLink(page.url(), target) || !isOwnLink(step.targetUrl, target)) return false;
  const pageInput = { page, service, computer: { projectId: target.projectId, sessionId } };
  const press = (): Promise<void> => clickElement(pageInput, { selector: step.selector, frame: [] });
  await waitForRequestsToSettle(page, press, signal);
  return true;
}
