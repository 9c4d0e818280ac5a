import type { Page, Request } from 'playwright-core';
import type { HealthOutcome, LoginTarget } from '../../../contract/activities.ts';
import type { PageReading } from '../../../contract/reading.ts';
import { credentialFacts } from '../credentials/attached-credential.ts';
import { followSignInLink, homeUrl, openLoginForm } from '../find-login-page.ts';
import type { LoginDeps } from '../deps.ts';
import { isSamePage, stripQuery } from '../urls.ts';
import { assertProxyExists } from '../session/network-errors.ts';
import { hasTelemetry } from '../session/open-session.ts';
import { withProfileSession, saveOnClose } from '../session/profile-session.ts';
import { checkByRequest, learnRequestCheck, canLearnRequestCheck, type BrowserRequest } from './request-check.ts';
import { asksForLogin, readAnonymously, readAt, readRestored, verdictOf, type Verdict } from './verdict.ts';
import { readLogin } from '../reading/read-login.ts';

/**
 * Checks whether the profile is still logged in: first by the learned request, if there is one, then in a browser. Only a browser
 * can find that a session has expired. The first browser check after a login learns the request.
 */
export async function checkHealth(
  deps: LoginDeps,
  target: LoginTarget,
  checkId: string,
  signal: AbortSignal,
): Promise<HealthOutcome> {
  await assertProxyExists(deps, target);
  const asked = await checkByRequest(deps, target);
  if (asked !== null)
    return {
      outcome: 'authenticated',
      errorCode: null,
      check: asked,
      credential: await credentialFacts(deps, target),
    };
  const { request, ...outcome } = await checkInBrowser(deps, target, checkId, signal);
  const shouldLearn = outcome.outcome === 'authenticated' && request !== null && canLearnRequestCheck(target);
  const requestCheck = shouldLearn ? await learnRequestCheck(deps, target, request) : undefined;
  return { ...outcome, ...(requestCheck === undefined ? {} : { requestCheck }) };
}

/**
 * Reads the page where the last login landed, then the login page. Only a page that asks for a login means that the session has
 * expired; a site that is down is inconclusive. A signed-in session is saved with the cookies that the site has refreshed.
 */
async function checkInBrowser(
  deps: LoginDeps,
  target: LoginTarget,
  checkId: string,
  signal: AbortSignal,
): Promise<HealthOutcome & { request: BrowserRequest | null }> {
  const name = `check-${checkId}`;
  const landing = target.postLoginUrl ?? homeUrl(target.domain, deps.egress);
  return await withProfileSession(deps, target, name, signal, async ({ page, session, replayId, replayError }) => {
    const request = recordNavigation(page, landing);
    const { verdict, kind } = await readSession(page, target, landing, (url) =>
      readAnonymously(deps, target, `${name}-stranger`, url, signal),
    );
    if (verdict === 'authenticated') await saveOnClose(deps, target, session.session_id);
    return {
      outcome: verdict,
      errorCode: verdict === 'expired' ? 'session_expired' : verdict === 'authenticated' ? null : errorCodeOf(kind),
      telemetryCaptured: hasTelemetry(session),
      replayId,
      replayError,
      browserSessionId: session.session_id,
      check: { method: 'browser', address: stripQuery(page.url()), decided_by: kind, ...(await statusOf(page)) },
      credential: await credentialFacts(deps, target),
      request: await request(),
    };
  });
}

/** Records the first navigation request of a page as the browser sends it; null if none was sent. */
function recordNavigation(page: Page, url: string): () => Promise<BrowserRequest | null> {
  let first: Request | null = null;
  page.on('request', (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) first ??= request;
  });
  return async () => {
    const headers = (await first?.allHeaders().catch(() => null)) ?? null;
    return headers === null ? null : { url, headers };
  };
}

/** HTTP status of the current document; empty if the browser does not report one. */
async function statusOf(page: Page): Promise<{ status?: number }> {
  const asked = page.evaluate<unknown>("performance.getEntriesByType('navigation')[0]?.responseStatus");
  const status = await asked.catch(() => 0);
  return typeof status === 'number' && status > 0 ? { status } : {};
}

async function readSession(
  page: Page,
  target: LoginTarget,
  landing: string,
  anonymously: (url: string) => Promise<PageReading | null>,
): Promise<{ verdict: Verdict; kind: PageReading['kind'] }> {
  const first = await readRestored(page, landing);
  const seen = verdictOf(first);
  // A page that is forbidden to anonymous visitors: the login page tells whether a login is asked for.
  const isForbidden = first.kind === 'blocked' && (await statusOf(page)).status === 403;
  if (seen !== 'inconclusive' || (isOutage(first.kind) && !isForbidden)) return { verdict: seen, kind: first.kind };
  // A neutral page is signed in if an anonymous visitor is asked to log in there. This is tried before the login page, because
  // many applications show their login form to everyone.
  if (first.kind === 'other' && first.sign_in_link === null) {
    const anonymous = await anonymously(landing);
    if (anonymous !== null && asksForLogin(anonymous)) {
      // A slow form may have appeared by now.
      const again = await readLogin(page, { stopWhenIdle: true });
      const now = verdictOf(again);
      return { verdict: now === 'inconclusive' ? 'authenticated' : now, kind: again.kind };
    }
  }
  const loginUrl = target.loginUrl ?? first.sign_in_link?.href ?? target.loginPageUrl ?? null;
  const second = await readLoginPage(page, loginUrl, first);
  if (second === null) return { verdict: seen, kind: first.kind };
  const verdict = verdictOf(second);
  if (verdict !== 'inconclusive' || isOutage(second.kind)) return { verdict, kind: second.kind };
  // A login page that redirects to where logins land has recognized the session.
  const isRedirected =
    loginUrl !== null && !isSamePage(second.url, loginUrl) && isSamePage(second.url, target.postLoginUrl ?? '');
  return { verdict: isRedirected ? 'authenticated' : 'inconclusive', kind: second.kind };
}

/** Reads the login page, by its URL or by the first page's sign-in button. Null if there is neither. */
async function readLoginPage(page: Page, loginUrl: string | null, first: PageReading): Promise<PageReading | null> {
  // Single-page applications show the form in a dialog that a button opens.
  if (loginUrl !== null && /^https?:/.test(loginUrl)) return await openLoginForm(page, await readAt(page, loginUrl));
  return first.sign_in_link === null ? null : await followSignInLink(page, first.sign_in_link);
}

function isOutage(kind: PageReading['kind']): boolean {
  return kind === 'unavailable' || kind === 'blocked' || kind === 'captcha';
}

function errorCodeOf(kind: PageReading['kind']): HealthOutcome['errorCode'] {
  if (kind === 'captcha') return 'captcha_blocked';
  if (kind === 'blocked') return 'bot_detected';
  return kind === 'unavailable' ? 'network_error' : 'website_error';
}
