import type { Page } from 'playwright-core';
import type { HealthOutcome, LoginTarget } from '../../contract/activities.ts';
import type { PageReading } from '../../contract/reading.ts';
import { deleteSession, updateSession } from '../../browser-client/sessions.ts';
import { credentialFacts } from './credential-facts.ts';
import { followSignInLink, homeUrl, openForm } from './discover.ts';
import type { LoginDeps } from './deps.ts';
import { isCaptured, openLoginSession } from './open-session.ts';
import { requireProxy } from './network-faults.ts';
import { isAskedToLogIn, readAnonymously, readAt, verdictOf, type Verdict } from './read-anonymously.ts';
import { readLogin } from './read-login.ts';
import { keepRecordings, recordSession } from './record-session.ts';

/** A session outlives the slowest check, so that it ends by itself only when nobody is left. */
const CHECK_SESSION_SECONDS = 180;

/**
 * Looks whether the profile is still logged in: where the last login landed first, then the login page. Only a page
 * that asks for a login says that the session has expired; a site that is down or answers nonsense says nothing.
 * A good session is saved again, with the cookies that the site has refreshed.
 */
export async function checkHealth(
  deps: LoginDeps,
  target: LoginTarget,
  checkId: string,
  signal: AbortSignal,
): Promise<HealthOutcome> {
  const { projectId } = target;
  const name = `check-${checkId}`;
  await requireProxy(deps, target);
  const session = await openLoginSession(deps.service, target, name, CHECK_SESSION_SECONDS, signal);
  try {
    const recorded = await recordSession(deps.service, target, session.session_id, CHECK_SESSION_SECONDS, signal);
    const page = await deps.pages.of(projectId, session.session_id, session.cdp_ws_url);
    const { verdict, kind } = await look(page, target, homeUrl(target.domain, deps.egress), (url) =>
      readAnonymously(deps, target, `${name}-stranger`, url, signal),
    );
    if (verdict === 'authenticated')
      await updateSession(deps.service, projectId, session.session_id, {
        profile: { name: target.profileName, save_changes: true },
      });
    return {
      outcome: verdict,
      errorCode: verdict === 'expired' ? 'session_expired' : verdict === 'authenticated' ? null : codeOf(kind),
      telemetryCaptured: isCaptured(session),
      ...recorded,
      browserSessionId: session.session_id,
      credential: await credentialFacts(deps, target),
    };
  } finally {
    await deps.pages.release(session.session_id);
    await keepRecordings(deps, target, session.session_id, signal).catch(() => undefined);
    await deleteSession(deps.service, projectId, session.session_id).catch(() => undefined);
  }
}

async function look(
  page: Page,
  target: LoginTarget,
  home: string,
  anonymously: (url: string) => Promise<PageReading | null>,
): Promise<{ verdict: Verdict; kind: PageReading['kind'] }> {
  const landing = target.postLoginUrl ?? home;
  const first = await readAt(page, landing);
  const seen = verdictOf(first);
  if (seen !== 'inconclusive' || isOutage(first.kind)) return { verdict: seen, kind: first.kind };
  // A page that says nothing of itself says it all where a stranger is asked to log in. This comes before the login page:
  // many applications show their form to whoever asks for it, logged in or not.
  if (first.kind === 'other' && first.sign_in_link === null) {
    const strangers = await anonymously(landing);
    if (strangers !== null && isAskedToLogIn(strangers)) {
      // The form of a page whose scripts are slow may have come by now.
      const again = await readLogin(page);
      const now = verdictOf(again);
      return { verdict: now === 'inconclusive' ? 'authenticated' : now, kind: again.kind };
    }
  }
  const loginUrl = target.loginUrl ?? first.sign_in_link?.href ?? target.loginPageUrl ?? null;
  const second = await readLoginPage(page, loginUrl, first);
  if (second === null) return { verdict: seen, kind: first.kind };
  const verdict = verdictOf(second);
  if (verdict !== 'inconclusive' || isOutage(second.kind)) return { verdict, kind: second.kind };
  // A login page that leads a visitor on, to a page without a form, has recognised the visitor.
  const ledOn =
    loginUrl !== null &&
    pathOf(second.url) !== pathOf(loginUrl) &&
    pathOf(second.url) === pathOf(target.postLoginUrl ?? '');
  return { verdict: ledOn ? 'authenticated' : 'inconclusive', kind: second.kind };
}

/**
 * What the login page shows: by its address, else by the button of the first page that opens it there. A page that looks
 * the same to everybody says nothing; the page that asked for the last login does. Null when there is no way to it.
 */
async function readLoginPage(page: Page, loginUrl: string | null, first: PageReading): Promise<PageReading | null> {
  // Where the session is the page's own affair, the form stands in a window that a button opens.
  if (loginUrl !== null && /^https?:/.test(loginUrl)) return await openForm(page, await readAt(page, loginUrl));
  return first.sign_in_link === null ? null : await followSignInLink(page, first);
}

function isOutage(kind: PageReading['kind']): boolean {
  return kind === 'unavailable' || kind === 'blocked' || kind === 'captcha';
}

function codeOf(kind: PageReading['kind']): HealthOutcome['errorCode'] {
  if (kind === 'captcha') return 'captcha_blocked';
  if (kind === 'blocked') return 'bot_detected';
  return kind === 'unavailable' ? 'network_error' : 'website_error';
}

function pathOf(url: string): string {
  if (!URL.canParse(url)) return '';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
