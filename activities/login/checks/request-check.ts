import type { LoginTarget } from '../../../contract/activities.ts';
import type { CheckMethod } from '../../../contract/connections.ts';
import type { RequestCheck } from '../../../contract/document.ts';
import { selectionOnCreate } from '../../../contract/telemetry-selection.ts';
import { mergeStates } from '../../../store/profile-state/merge.ts';
import { readState, type ProfileState } from '../../../store/profile-state/state.ts';
import type { LoginDeps } from '../deps.ts';
import { stripQuery } from '../urls.ts';
import { withSiteRequest, type SiteRequest } from './site-request.ts';
import { cookiesFor } from './request-cookies.ts';
import { judge, learnRule, type SiteAnswer } from './request-rule.ts';

/** Headers that belong to one connection or one moment; the cookies are the profile's, the rest is as the browser sent it. */
const EXCLUDED_HEADERS =
  /^(:|cookie$|host$|connection$|content-|accept-encoding$|if-|authorization$|proxy-|referer$|cache-control$|pragma$|priority$)/i;

type RequestDeps = Pick<LoginDeps, 'egress' | 'store'>;

/** A recording or telemetry of a check is that of a browser. */
function isObserved({ recordSession, browser }: LoginTarget): boolean {
  return recordSession === true || selectionOnCreate(browser?.telemetry) !== null;
}

/** False where a request takes no browser's place: it would not be used, or none was found that tells. */
export function canLearnRequestCheck(target: LoginTarget): boolean {
  return !isObserved(target) && target.requestCheck !== null;
}

/**
 * Asks the site by the request that was learned, with the cookies of the profile; those that the answer renews are saved.
 * How it was seen that the profile is logged in; null where a browser has to look.
 */
export async function checkByRequest(deps: RequestDeps, target: LoginTarget): Promise<CheckMethod | null> {
  const known = target.requestCheck ?? null;
  if (known === null || isObserved(target)) return null;
  try {
    const answer = await withSiteRequest(deps, target, (ask) => requestWithCookies(deps, target, ask, known));
    if (answer === null) return null;
    const found = judge(known, answer);
    if (found.verdict !== 'authenticated') return null;
    return { method: 'request', status: answer.status, address: stripQuery(known.url), decided_by: found.decidedBy };
  } catch {
    // The error may quote an address or an answer; the browser finds out what is wrong.
    return null;
  }
}

/**
 * Learns whether one request for the landing page, as the browser sent it, tells a session of the profile from none: asked
 * twice with the profile's cookies and twice without. Null when it does not; undefined when that could not be found out.
 */
export async function learnRequestCheck(
  deps: RequestDeps,
  target: LoginTarget,
  { url, headers }: BrowserRequest,
): Promise<RequestCheck | null | undefined> {
  const request = { url, headers: Object.fromEntries(Object.entries(headers).filter(([name]) => isLasting(name))) };
  try {
    return await withSiteRequest(deps, target, async (ask) => {
      // One after the other: a site may hand out its cookies anew with each answer.
      const first = await requestWithCookies(deps, target, ask, request);
      const second = first === null ? null : await requestWithCookies(deps, target, ask, request);
      if (first === null || second === null) return null;
      const withoutCookies = () => ask(url, request.headers);
      const rule = learnRule([first, second], [await withoutCookies(), await withoutCookies()]);
      return rule === null ? null : { ...request, ...rule };
    });
  } catch {
    return undefined;
  }
}

/** A request as the browser made it. */
export interface BrowserRequest {
  url: string;
  headers: Record<string, string>;
}

function isLasting(name: string): boolean {
  return !EXCLUDED_HEADERS.test(name);
}

/** One request with the profile's cookies; null where the store has no such profile, or no cookie in it for the site. */
async function requestWithCookies(
  { store }: RequestDeps,
  { projectId, profileName }: LoginTarget,
  ask: SiteRequest,
  { url, headers }: BrowserRequest,
): Promise<SiteAnswer | null> {
  const profile = await store.profiles.load(projectId, { name: profileName });
  if (profile === null) return null;
  const loaded = readState(profile.state);
  const cookies = cookiesFor(loaded, url);
  if (cookies.header === '') return null;
  const answer = await ask(url, { ...headers, cookie: cookies.header });
  const now: ProfileState = cookies.after(answer.setCookies);
  if (now !== loaded && answer.status < 400)
    await store.profiles.save(projectId, profile.id, (stored) => mergeStates(loaded, now, readState(stored)));
  return answer;
}
