import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { HealthOutcome, LoginTarget } from '../../../contract/activities.ts';
import type { PageReading } from '../../../contract/reading.ts';
import { createSession, deleteSession } from '../../../browser-client/sessions.ts';
import type { LoginDeps } from '../deps.ts';
import { isSamePage } from '../urls.ts';
import { goTo, readLogin } from '../reading/read-login.ts';
import { anonymousSessionBody } from '../session/open-session.ts';

/** An anonymous session ends by itself when nobody is left to end it. */
const SESSION_SECONDS = 180;

/** How long an application is given to restore a session, and how often it is looked at meanwhile, in milliseconds. */
const RESTORES_WITHIN_MS = 4_000;
const RESTORE_LOOK_MS = 500;

/** What one page says of a session. */
export type Verdict = HealthOutcome['outcome'];

/** The same page without the profile, in a session of its own. Null when no session is to be had. */
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

/** Leads the page to an address and reads it. */
export async function readAt(page: Page, url: string): Promise<PageReading> {
  await goTo(page, url);
  return await readLogin(page);
}

/**
 * Reads the page at an address as a profile sees it. One that asks for a login there is given its time: applications show
 * a stranger's page until they have restored the session that they keep.
 */
export async function readRestored(page: Page, url: string): Promise<PageReading> {
  const end = Date.now() + RESTORES_WITHIN_MS;
  await goTo(page, url);
  let reading = await readLogin(page, { stopWhenIdle: true });
  while (asksForLogin(reading) && isSamePage(reading.url, url) && Date.now() < end) {
    await sleep(RESTORE_LOOK_MS);
    reading = await readLogin(page);
  }
  return reading;
}

/** True when the page asks who comes there, or says where that is asked. */
export function asksForLogin(reading: PageReading): boolean {
  return verdictOf(reading) === 'expired' || (reading.kind === 'other' && reading.sign_in_link !== null);
}

/** What a page says of the session that it was read in. */
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
