import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ProxyAgent, request, type Dispatcher } from 'undici';
import type { LoginTarget } from '../../../contract/activities.ts';
import { createGuardedDispatcher } from '../../../egress/guard.ts';
import { startEgressProxy } from '../../../egress/proxy.ts';
import type { LoginDeps } from '../deps.ts';
import type { SiteResponse } from './request-rule.ts';

/** A slower site is checked in a browser, in milliseconds. */
const RESPONSE_TIMEOUT_MS = 15_000;
/** How much of a body is read, in characters: what identifies a page comes early. */
const MAX_BODY = 512 * 1024;

/** Accepted content encodings. */
const DECODERS = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Sends one GET without following redirects. Rejects if there is no response in time. */
export type SiteRequest = (
  url: string,
  headers: Record<string, string>,
) => Promise<SiteResponse & { setCookies: string[] }>;

/**
 * Runs `work` with requests that take the same route as the target's browser sessions: subject to the egress rules, and through
 * the target's proxy if it has one. Rejects if the proxy does not exist.
 */
export async function withSiteRequest<Result>(
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
