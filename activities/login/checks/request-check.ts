import type { LoginTarget } from '../../../contract/activities.ts';
import type { CheckMethod } from '../../../contract/connections.ts';
import type { RequestCheck } from '../../../contract/document.ts';
import { selectionOnCreate } from '../../../contract/telemetry-selection.ts';
import { mergeStates } from '../../../store/profile-state/merge.ts';
import { readState, type ProfileState } from '../../../store/profile-state/state.ts';
import type { LoginDeps } from '../deps.ts';
import { stripQuery } from '../urls.ts';
import { cookiesFor } from './request-cookies.ts';
import { applyRule, learnRule, type SiteResponse } from './request-rule.ts';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ProxyAgent, request, type Dispatcher } from 'undici';
import { createGuardedDispatcher } from '../../../egress/guard.ts';
import { startEgressProxy } from '../../../egress/proxy.ts';

/** Headers that are not replayed: they are specific to one connection or moment, or come from the profile (cookies). */
const EXCLUDED_HEADERS =
  /^(:|cookie$|host$|connection$|content-|accept-encoding$|if-|authorization$|proxy-|referer$|cache-control$|pragma$|priority$)/i;

type RequestDeps = Pick<LoginDeps, 'egress' | 'store'>;

/** A check that is recorded or captured by telemetry needs a browser. */
function needsBrowser({ recordSession, browser }: LoginTarget): boolean {
  return recordSession === true || selectionOnCreate(browser?.telemetry) !== null;
}

/** False if checks need a browser, or no suitable request was found before. */
export function canLearnRequestCheck(target: LoginTarget): boolean {
  return !needsBrowser(target) && target.requestCheck !== null;
}

/** Sends the learned request with the profile's cookies and saves those it renews. Null if a browser has to check. */
export async function checkByRequest(deps: RequestDeps, target: LoginTarget): Promise<CheckMethod | null> {
  const known = target.requestCheck ?? null;
  if (known === null || needsBrowser(target)) return null;
  try {
    const answer = await withSiteRequest(deps, target, (ask) => requestWithCookies(deps, target, ask, known));
    if (answer === null) return null;
    const found = applyRule(known, answer);
    if (found.verdict !== 'authenticated') return null;
    return { method: 'request', status: answer.status, address: stripQuery(known.url), decided_by: found.decidedBy };
  } catch {
    // The error may quote a URL or a response. The browser check finds the cause.
    return null;
  }
}

/**
 * Learns whether the browser's request for the landing page distinguishes a signed-in session: it is sent twice with the profile's
 * cookies and twice without. Null if it does not; undefined if that could not be determined.
 */
export async function learnRequestCheck(
  deps: RequestDeps,
  target: LoginTarget,
  { url, headers }: BrowserRequest,
): Promise<RequestCheck | null | undefined> {
  const kept = Object.entries(headers).filter(([name]) => !EXCLUDED_HEADERS.test(name));
  const request = { url, headers: Object.fromEntries(kept) };
  try {
    return await withSiteRequest(deps, target, async (ask) => {
      // Sequentially: a site may renew its cookies with each response.
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

/** A request as the browser sent it. */
export interface BrowserRequest {
  url: string;
  headers: Record<string, string>;
}

/** Sends a request with the profile's cookies; null if the store has no such profile or it has no cookies for the site. */
async function requestWithCookies(
  { store }: RequestDeps,
  { projectId, profileName }: LoginTarget,
  ask: SiteRequest,
  { url, headers }: BrowserRequest,
): Promise<SiteResponse | null> {
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

/** A slower site is checked in a browser, in milliseconds. */
const RESPONSE_TIMEOUT_MS = 15_000;
/** How much of a body is read, in characters: what identifies a page comes early. */
const MAX_BODY = 512 * 1024;

const DECODERS = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Sends one GET without following redirects. Rejects if there is no response in time. */
type SiteRequest = (url: string, headers: Record<string, string>) => Promise<SiteResponse & { setCookies: string[] }>;

/** Sends requests as the target's browser sessions do: by its proxy and within the egress rules. Rejects if the proxy does not exist. */
async function withSiteRequest<Result>(
  { egress, store }: Pick<LoginDeps, 'egress' | 'store'>,
  { projectId, browser }: Pick<LoginTarget, 'projectId' | 'browser'>,
  work: (send: SiteRequest) => Promise<Result>,
): Promise<Result> {
  const ref = browser?.proxy;
  if (ref === undefined || ref.mode !== undefined) return await runAndDestroy(createGuardedDispatcher(egress), work);
  const match = await store.proxies.open(projectId, ref.id === undefined ? { name: ref.name ?? '' } : { id: ref.id });
  if (match.outcome !== 'found') throw new Error('the proxy does not exist');
  const guard = await startEgressProxy({ policy: egress, upstream: match.proxy });
  try {
    return await runAndDestroy(new ProxyAgent({ uri: guard.url }), work);
  } finally {
    await guard.close();
  }
}

async function runAndDestroy<Result>(
  dispatcher: Dispatcher,
  work: (send: SiteRequest) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(requestThrough(dispatcher));
  } finally {
    await dispatcher.destroy();
  }
}

function requestThrough(dispatcher: Dispatcher): SiteRequest {
  return async (url, headers) => {
    const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
    const {
      statusCode,
      headers: responseHeaders,
      body,
    } = await request(url, {
      headers: { ...headers, 'accept-encoding': [...DECODERS.keys()].join(', ') },
      dispatcher,
      signal,
    });
    let text = '';
    const decoder = DECODERS.get(firstOf(responseHeaders['content-encoding']) ?? '');
    // An error in the pipeline also fails the loop below.
    const decoded = decoder === undefined ? body : pipeline(body, decoder(), () => undefined);
    decoded.setEncoding('utf8');
    for await (const piece of decoded) {
      text += String(piece);
      if (text.length >= MAX_BODY) break;
    }
    const location = firstOf(responseHeaders['location']);
    return {
      status: statusCode,
      location: location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : null,
      body: text,
      setCookies: [responseHeaders['set-cookie'] ?? []].flat(),
    };
  };
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
