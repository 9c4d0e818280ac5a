import type { Page } from 'playwright-core';
import type { OpenLinkInput } from '../../contract/activities.ts';
import { MAILED_LINK } from '../../contract/answer-check.ts';
import type { PageReading } from '../../contract/reading.ts';
import { isOwnLink } from '../../contract/site-hosts.ts';
import { readLoneStep } from '../../reader/offers.ts';
import { mayTypeInto } from './allowed-sites.ts';
import type { LoginDeps } from './deps.ts';
import { failure } from '../activity.ts';
import { clickElement } from './entering/press.ts';
import { readAfterEntering } from './reading/read-after-entering.ts';
import { waitForRequestsToSettle } from './reading/traffic.ts';
import { openWindow } from './session/windows.ts';
import { readLogin } from './reading/read-login.ts';
import { collectFrames } from './reading/frames.ts';

/** How long the page that waits for the link may take to notice that it was opened, in milliseconds. */
const NOTICES_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 500;
const OPENS_WITHIN_MS = 30_000;

/**
 * Opens a mailed sign-in link beside the page that waits for it, in the same session, at most once: the ledger is claimed before
 * it is asked for. What the link's page wants pressed first is pressed. Answers the page that goes on: the one that was opened, or
 * the one that waited, where the link only lets that one in. A link that the site refuses is closed again. Fails with `domain_not_allowed` for one that leads elsewhere.
 */
export async function openMailedLink(
  deps: LoginDeps,
  { target, flowId, sessionId, entryId, submissionId, from }: OpenLinkInput,
  signal: AbortSignal,
): Promise<PageReading> {
  const link = (await deps.store.submissions.open(submissionId))?.values[MAILED_LINK];
  if (link === undefined) throw failure('submission_gone', 'the mailed link is gone; another one is waited for', true);
  if (!isOwnLink(link, target) || !mayTypeInto(link, target, deps.egress))
    throw failure('domain_not_allowed', 'the mailed link leads to a site that is not allowed', true);
  const waiting = await deps.pages.of(target.projectId, sessionId);
  const { connectionId } = target;
  if (!(await deps.store.typingLedger.claim({ connectionId, flowId, interactionId: entryId, submissionId })))
    throw failure('entry_uncertain', 'this link was opened before; its outcome is read from the page', true);
  await deps.store.submissions.destroy(submissionId);
  const opened = await openWindow(waiting.context());
  if (signal.aborted || !(await deps.store.typingLedger.advance(flowId, entryId, 'pressed')))
    throw failure('entry_uncertain', 'this link was given up; its outcome is read from the page', true);
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
  const judgement = { chosen: target.forms, model: deps.model };
  // What fails quotes the address, which is a secret.
  const answer = await opened.goto(link, { waitUntil: 'domcontentloaded', timeout: OPENS_WITHIN_MS }).catch(() => null);
  let shown = await readLogin(opened, judgement);
  let isRefused = (answer?.status() ?? 400) >= 400 || shown.website_error !== null;
  if (
    !isRefused &&
    WAITS_FOR_PRESS.has(shown.kind) &&
    (await pressOnlyStep(deps, { target, sessionId }, opened, signal))
  ) {
    shown = await readLogin(opened, judgement);
    const [top] = await collectFrames(opened);
    // Who is asked again who they are has not been let in by the link.
    const beginsAnew = shown.kind === 'form' && shown.fields.some(({ type }) => type === 'identifier');
    isRefused = (top?.facts.status ?? 400) >= 400 || shown.website_error !== null || beginsAnew;
  }
  const leadsOn = !isRefused && shown.kind !== 'other' && shown.kind !== 'external_action';
  if (leadsOn) return shown;
  await waiting.bringToFront();
  const noticed = isRefused ? await readLogin(waiting, judgement) : await untilNoticed();
  if (noticed !== null) {
    await opened.close();
    return noticed;
  }
  // The page that waits says nothing new: what the link led to is the site's inside, which a fresh browser proves at the end.
  return await readAfterEntering(deps, target, sessionId, 'login', null, signal);

  async function untilNoticed(): Promise<PageReading | null> {
    for (const end = Date.now() + NOTICES_WITHIN_MS; Date.now() < end && !signal.aborted;) {
      const seen = await readLogin(waiting, judgement);
      if (seen.kind !== from && seen.kind !== 'unavailable') return seen;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    return null;
  }
}

/** Kinds that a page may be taken for which asks for nothing but a press. */
const WAITS_FOR_PRESS = new Set<PageReading['kind']>(['other', 'choice', 'external_action']);

/** Presses what the page of a mailed link wants pressed, where that leads to the connection's own site; false where there is nothing. */
async function pressOnlyStep(
  { service }: Pick<LoginDeps, 'service'>,
  { target, sessionId }: Pick<OpenLinkInput, 'target' | 'sessionId'>,
  page: Page,
  signal: AbortSignal,
): Promise<boolean> {
  const step = readLoneStep(await collectFrames(page));
  if (step === null || !isOwnLink(page.url(), target) || !isOwnLink(step.leadsTo, target)) return false;
  const pageInput = { page, service, computer: { projectId: target.projectId, sessionId } };
  const press = (): Promise<void> => clickElement(pageInput, { selector: step.selector, frame: [] });
  await waitForRequestsToSettle(page, press, signal);
  return true;
}
