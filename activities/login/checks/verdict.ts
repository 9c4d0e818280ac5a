import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { HealthOutcome, LoginTarget } from '../../../contract/activities.ts';
import type { PageReading } from '../../../contract/reading.ts';
import { createSession, deleteSession } from '../../../browser-client/sessions.ts';
import type { LoginDeps } from '../deps.ts';
import { isSamePage } from '../urls.ts';
import { goTo, readLogin } from '../reading/read-login.ts';
import { anonymousSessionBody } from '../session/open-session.ts';

/** Lifetime of an anonymous session if a lost worker does not delete it. */
const SESSION_SECONDS = 180;

const RESTORE_TIMEOUT_MS = 4_000;
const POLL_INTERVAL_MS = 500;

/** What a page says about a session. */
export type Verdict = HealthOutcome['outcome'];

/** Reads a page in a separate session without the profile. Null if no session is available. */
export async function readAnonymously(
  { service, pages }: Pick<LoginDeps, 'service' | 'pages'>,
  target: Pick<LoginTarget, 'projectId' | 'browser'>,
  name: string,
  url: string,
  signal: AbortSignal,
): Promise<PageReading | null> {
  const { projectId } = target;
  const body = anonymousSessionBody(target, name, SESSION_SECONDS);
  const session = await createSession(service, projectId, body, signal).catch(() => null);
  if (session === null) return null;
  try {
    return await readAt(await pages.of(projectId, session.session_id, session.cdp_ws_url), url);
  } finally {
    await pages.release(session.session_id);
    await deleteSession(service, projectId, session.session_id).catch(() => undefined);
  }
}

/** Navigates to a URL and reads the page. */
export async function readAt(page: Page, url: string): Promise<PageReading> {
  await goTo(page, url);
  return await readLogin(page);
}

/** Reads a page with a profile's session, again for a while if it asks for a login: applications restore sessions late. */
export async function readRestored(page: Page, url: string): Promise<PageReading> {
  const end = Date.now() + RESTORE_TIMEOUT_MS;
  await goTo(page, url);
  let reading = await readLogin(page, { stopWhenIdle: true });
  while (asksForLogin(reading) && isSamePage(reading.url, url) && Date.now() < end) {
    await sleep(POLL_INTERVAL_MS);
    reading = await readLogin(page);
  }
  return reading;
}

/** Whether the page asks for a login or links to one. */
export function asksForLogin(reading: PageReading): boolean {
  return verdictOf(reading) === 'expired' || (reading.kind === 'other' && reading.sign_in_link !== null);
}

/** What a page says about the session that it was read in. */
export function verdictOf(reading: PageReading): Verdict {
  switch (reading.kind) {
    case 'logged_in':
      return 'authenticated';
    case 'form':
      return reading.fields.some(({ type }) => type === 'password' || type === 'identifier')
        ? 'expired'
        : 'inconclusive';
    case 'choice':
    case 'passkey':
      return 'expired';
    case 'external_action':
    case 'captcha':
    case 'password_change':
    case 'http_login':
    case 'blocked':
    case 'unavailable':
      return 'inconclusive';
    case 'other':
      return reading.session_over === true ? 'expired' : 'inconclusive';
  }
}
