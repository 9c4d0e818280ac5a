import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ProxyAgent, request, type Dispatcher } from 'undici';
import type { LoginTarget } from '../../../contract/activities.ts';
import { createGuardedDispatcher } from '../../../egress/guard.ts';
import { startEgressProxy } from '../../../egress/proxy.ts';
import type { LoginDeps } from '../deps.ts';
import type { SiteAnswer } from './request-rule.ts';

/** A site that answers later than this is asked by the browser, in milliseconds. */
const ANSWER_WITHIN_MS = 15_000;
/** What tells pages apart stands early; the rest is not read, in characters. */
const MAX_BODY = 512 * 1024;

/** What is accepted, and how it is read. */
const DECODERS = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** One GET, redirects not followed. Rejects when there is no answer in time. */
export type SiteRequest = (
  url: string,
  headers: Record<string, string>,
) => Promise<SiteAnswer & { setCookies: string[] }>;

/**
 * Asks a site by the way that the target's browser sessions take: guarded by the egress rules, and through its proxy where
 * it has one. Rejects when the proxy is not there.
 */
export async function withSiteRequest<Result>(
  { egress, store }: Pick<LoginDeps, 'egress' | 'store'>,
  { projectId, browser }: Pick<LoginTarget, 'projectId' | 'browser'>,
  work: (ask: SiteRequest) => Promise<Result>,
): Promise<Result> {
  const ref = browser?.proxy;
  if (ref === undefined || ref.mode !== undefined) {
    const dispatcher = createGuardedDispatcher(egress);
    try {
      return await work(requestThrough(dispatcher));
    } finally {
      await dispatcher.destroy();
    }
  }
  const match = await store.proxies.open(projectId, ref.id === undefined ? { name: ref.name ?? '' } : { id: ref.id });
  if (match.outcome !== 'found') throw new Error('the proxy is not there');
  const guard = await startEgressProxy({ policy: egress, upstream: match.proxy });
  const dispatcher = new ProxyAgent({ uri: guard.url });
  try {
    return await work(requestThrough(dispatcher));
  } finally {
    await dispatcher.destroy();
    await guard.close();
  }
}

function requestThrough(dispatcher: Dispatcher): SiteRequest {
  return async (url, headers) => {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const {
      statusCode,
      headers: answered,
      body,
    } = await request(url, {
      headers: { ...headers, 'accept-encoding': [...DECODERS.keys()].join(', ') },
      dispatcher,
      signal,
    });
    let text = '';
    const decoder = DECODERS.get(oneOf(answered['content-encoding']) ?? '');
    // What breaks on the way breaks the reading, too: there is nobody else to tell.
    const decoded = decoder === undefined ? body : pipeline(body, decoder(), () => undefined);
    decoded.setEncoding('utf8');
    for await (const piece of decoded) {
      text += String(piece);
      if (text.length >= MAX_BODY) break;
    }
    const location = oneOf(answered['location']);
    return {
      status: statusCode,
      location: location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : null,
      body: text,
      setCookies: [answered['set-cookie'] ?? []].flat(),
    };
  };
}

function oneOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
