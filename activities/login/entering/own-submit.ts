import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { EnterInput } from '../../../contract/activities.ts';
import { readPage } from '../reading/read-page.ts';
import { hasRequestsInFlight } from '../reading/traffic.ts';
import { waitForPendingNavigation } from './fill-field.ts';
import { isRendered } from './page-functions.ts';
import { resolveFrame, type ElementPath } from './page-input.ts';

/** True for a password, whose page is kept from navigating until the press; many forms submit themselves on the last digit of a code or PIN. */
export function isHeld({ field }: EnterInput['answer']['entries'][number]): boolean {
  return field.type === 'password' && field.boxes === 1;
}

/**
 * Many forms submit themselves on the last digit of a code: the button at that selector, or what has the focus, may then belong to
 * the next page or step.
 */
export async function hasSubmittedItself(
  page: Page,
  startUrl: string,
  { entries, submit }: EnterInput['answer'],
  hasSentCode: boolean,
): Promise<boolean> {
  const [first] = entries;
  if (first === undefined || entries.some(isHeld)) return false;
  const isShown = async ({ selector, frame }: ElementPath): Promise<boolean> =>
    (await (await resolveFrame(page, { selector, frame })).$(selector))?.evaluate(isRendered) ?? false;
  const hasGone = async (): Promise<boolean> => {
    await waitForPendingNavigation(page.mainFrame());
    return !(await isShown(first.field).catch(() => false));
  };
  // During the first round trip a navigation may begin that the last digit has started.
  if ((await hasGone()) || (await hasGone())) return true;
  if (page.url() === startUrl) return hasSentCode && (await hasAnsweredCode(page));
  return submit !== null && !(await isShown(submit).catch(() => false));
}

/** How long a site may take to answer a code that its page has sent by itself, in milliseconds. */
const OWN_SUBMIT_TIMEOUT_MS = 10_000;
/** How long the page may take to show that answer, in milliseconds. */
const SHOW_TIMEOUT_MS = 1_500;
const POLL_INTERVAL_MS = 100;

/** Whether the site has answered a code that the page has sent by itself. Some pages send what is typed only to check its form. */
async function hasAnsweredCode(page: Page): Promise<boolean> {
  const sentAt = Date.now();
  let answeredAt = sentAt;
  for (;;) {
    const { kind, website_error: error } = await readPage(page);
    if (kind !== 'form' || error !== null) return true;
    const now = Date.now();
    if (hasRequestsInFlight(page) && now < sentAt + OWN_SUBMIT_TIMEOUT_MS) answeredAt = now;
    if (now > answeredAt + SHOW_TIMEOUT_MS) return false;
    await sleep(POLL_INTERVAL_MS);
  }
}
