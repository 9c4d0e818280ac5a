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
 * Looks whether the profile is still logged in. The request that is known to tell asks first; only a browser says that a
 * session has expired, and what a login has changed is learned anew by the check that follows it.
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
  const learns = outcome.outcome === 'authenticated' && request !== null && canLearnRequestCheck(target);
  const requestCheck = learns ? await learnRequestCheck(deps, target, request) : undefined;
  return { ...outcome, ...(requestCheck === undefined ? {} : { requestCheck }) };
}

/**
 * Looks where the last login landed first, then at the login page. Only a page that asks for a login says that the session
 * has expired; a site that is down or answers nonsense says nothing. A good session is saved again, with the cookies that
 * the site has refreshed.
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
    const request = watchRequest(page, landing);
    const { verdict, kind } = await look(page, target, landing, (url) =>
      readAnonymously(deps, target, `${name}-stranger`, url, signal),
    );
    if (verdict === 'authenticated') await saveOnClose(deps, target, session.session_id);
    return {
      outcome: verdict,
      errorCode: verdict === 'expired' ? 'session_expired' : verdict === 'authenticated' ? null : codeOf(kind),
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

/** Notes the first request for a page as the browser sends it; null when none was sent. */
function watchRequest(page: Page, url: string): () => Promise<BrowserRequest | null> {
  let first: Request | null = null;
  page.on('request', (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) first ??= request;
  });
  return async () => {
    const headers = (await first?.allHeaders().catch(() => null)) ?? null;
    return headers === null ? null : { url, headers };
  };
}

/** HTTP status of the document in front; nothing where the browser does not tell. */
async function statusOf(page: Page): Promise<{ status?: number }> {
  const asked = page.evaluate<unknown>("performance.getEntriesByType('navigation')[0]?.responseStatus");
  const status = await asked.catch(() => 0);
  return typeof status === 'number' && status > 0 ? { status } : {};
}

async function look(
  page: Page,
  target: LoginTarget,
  landing: string,
  anonymously: (url: string) => Promise<PageReading | null>,
): Promise<{ verdict: Verdict; kind: PageReading['kind'] }> {
  const first = await readRestored(page, landing);
  const seen = verdictOf(first);
  // A page that is not for strangers, on a site that talks to them: its login page tells whether one is asked for.
  const isForbidden = first.kind === 'blocked' && (await statusOf(page)).status === 403;
  if (seen !== 'inconclusive' || (isOutage(first.kind) && !isForbidden)) return { verdict: seen, kind: first.kind };
  // A page that says nothing of itself says it all where a stranger is asked to log in. This comes before the login page:
  // many applications show their form to whoever asks for it, logged in or not.
  if (first.kind === 'other' && first.sign_in_link === null) {
    const strangers = await anonymously(landing);
    if (strangers !== null && asksForLogin(strangers)) {
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
    loginUrl !== null && !isSamePage(second.url, loginUrl) && isSamePage(second.url, target.postLoginUrl ?? '');
  return { verdict: ledOn ? 'authenticated' : 'inconclusive', kind: second.kind };
}

/**
 * What the login page shows: by its address, else by the button of the first page that opens it there. A page that looks
 * the same to everybody says nothing; the page that asked for the last login does. Null when there is no way to it.
 */
async function readLoginPage(page: Page, loginUrl: string | null, first: PageReading): Promise<PageReading | null> {
  // Where the session is the page's own affair, the form stands in a window that a button opens.
  if (loginUrl !== null && /^https?:/.test(loginUrl)) return await openLoginForm(page, await readAt(page, loginUrl));
  return first.sign_in_link === null ? null : await followSignInLink(page, first.sign_in_link);
}

function isOutage(kind: PageReading['kind']): boolean {
  return kind === 'unavailable' || kind === 'blocked' || kind === 'captcha';
}

function codeOf(kind: PageReading['kind']): HealthOutcome['errorCode'] {
  if (kind === 'captcha') return 'captcha_blocked';
  if (kind === 'blocked') return 'bot_detected';
  return kind === 'unavailable' ? 'network_error' : 'website_error';
}
