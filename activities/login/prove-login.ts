import type { Page } from 'playwright-core';
import type { LoginTarget } from '../../contract/activities.ts';
import { inTime } from '../../contract/in-time.ts';
import type { LoginDeps } from './deps.ts';
import { homeUrl } from './discover.ts';
import { samePage } from './landing-url.ts';
import { inProfileSession, saveAtEnd } from './profile-session.ts';
import { isAskedToLogIn, readRestored, verdictOf, type Verdict } from './read-anonymously.ts';

/** Longest that a person waits for the proof, in milliseconds: a site that is silent proves nothing. */
const PROOF_WITHIN_MS = 30_000;

/**
 * Opens the profile of a login that has just been saved afresh, and looks where the login landed. `expired` only when the
 * site asks for a login again; a site or a browser service that is away makes it `inconclusive`. What the site refreshes
 * meanwhile is saved.
 */
export async function proveLogin(
  deps: LoginDeps,
  target: LoginTarget,
  flowId: string,
  landing: string,
  signal: AbortSignal,
): Promise<Verdict> {
  const { telemetry: _telemetry, ...browser } = target.browser ?? {};
  // Nobody has asked for a recording or telemetry of this look.
  const unseen = { ...target, browser, recordSession: false };
  const home = homeUrl(target.domain, deps.egress);
  try {
    return await inProfileSession(deps, unseen, `proof-${flowId}`, signal, async ({ page, session }) => {
      const verdict = await inTime(lookAgain(page, landing, home), PROOF_WITHIN_MS, 'inconclusive' as const);
      if (verdict === 'authenticated') await saveAtEnd(deps, target, session.session_id);
      return verdict;
    });
  } catch {
    signal.throwIfAborted();
    return 'inconclusive';
  }
}

/** The landing page was inside when the login ended. A page that asks for a login now is held against the home page. */
async function lookAgain(page: Page, landing: string, home: string): Promise<Verdict> {
  const first = await readRestored(page, landing);
  if (!isAskedToLogIn(first)) return verdictOf(first);
  const atHome = samePage(landing, home) ? first : await readRestored(page, home);
  if (verdictOf(atHome) === 'authenticated') return 'authenticated';
  // A form at its own address is shown by some sites to whoever asks for it, logged in or not.
  return isAskedToLogIn(atHome) || !samePage(first.url, landing) ? 'expired' : 'inconclusive';
}
