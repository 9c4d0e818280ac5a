import { ProxyAgent, request } from 'undici';
import { invalidField } from '../contract/errors.ts';
import { checkUserUrl, portOf } from './guard.ts';
import type { EgressPolicy } from './policy.ts';
import { startEgressProxy } from './proxy.ts';
import type { Resolver } from './resolve.ts';
import { resolveChecked, systemResolver } from './resolve.ts';
import type { Upstream } from './upstream.ts';

/** What is asked for through a proxy when the caller names nothing: a page that is made to be asked for. */
export const DEFAULT_CHECK_URL = 'https://example.com/';
/** How long a proxy may take to bring the answer, in milliseconds. */
const ANSWER_WITHIN_MS = 15_000;
/** Over plain http these are likely to be a proxy's own words: no leave, wrong credentials, or a target that it cannot reach. */
const PROXY_FAILURES = new Set([403, 407, 502, 503, 504]);
/** Our own guard speaks of the upstream's faults by these. */
const GUARD_FAILURES_FROM = 590;

/**
 * Tells whether a target answers through a proxy. With `url` that is the target; it must be public. Rejects with
 * `invalid_input` when it is not.
 */
export type UpstreamCheck = (upstream: Upstream, url?: string) => Promise<boolean>;

/** What {@link createUpstreamCheck} needs. */
export interface UpstreamCheckDeps {
  policy: EgressPolicy;
  resolver?: Resolver;
  /** Target when the caller names none. */
  defaultUrl?: string;
  timeoutMs?: number;
}

/** Checks go the way that the browser of a session goes, so that what they find is what a session would find. */
export function createUpstreamCheck(deps: UpstreamCheckDeps): UpstreamCheck {
  const { policy, resolver = systemResolver, defaultUrl = DEFAULT_CHECK_URL, timeoutMs = ANSWER_WITHIN_MS } = deps;
  return async (upstream, url) => {
    const target = url === undefined ? new URL(defaultUrl) : await checkedTarget(url, policy, resolver);
    const egress = await startEgressProxy({
      policy,
      resolver,
      // Past the proxy nothing would be learned of it.
      upstream: { ...upstream, bypassHosts: [] },
    });
    const dispatcher = new ProxyAgent({ uri: egress.url, proxyTunnel: target.protocol === 'https:' });
    // Ends whatever waits; a signal would not reach a request that has no connection yet.
    const timer = setTimeout(() => void dispatcher.destroy(), timeoutMs);
    try {
      const { statusCode, body } = await request(target, { dispatcher });
      body.on('error', () => undefined).destroy();
      if (target.protocol === 'https:') return true;
      return !PROXY_FAILURES.has(statusCode) && statusCode < GUARD_FAILURES_FROM;
    } catch {
      // What was thrown may quote the proxy's words; that there was no answer is all that is asked.
      return false;
    } finally {
      clearTimeout(timer);
      await dispatcher.destroy();
      await egress.close();
    }
  };
}

async function checkedTarget(text: string, policy: EgressPolicy, resolver: Resolver): Promise<URL> {
  const url = checkUserUrl(text, { policy, field: 'url' });
  try {
    await resolveChecked(policy, url.hostname, portOf(url), resolver);
    return url;
  } catch {
    throw invalidField('url', 'its host must resolve to a public address', 'invalid_url');
  }
}
