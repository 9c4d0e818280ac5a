import { ProxyAgent, request } from 'undici';
import { invalidField } from '../contract/errors.ts';
import { checkUserUrl, portOf } from './guard.ts';
import type { EgressPolicy } from './policy.ts';
import { startEgressProxy } from './proxy.ts';
import { type Resolver, resolveChecked, systemResolver } from './resolve.ts';
import type { Upstream } from './upstream.ts';

/** The default target of a check. */
const DEFAULT_CHECK_URL = 'https://example.com/';

const RESPONSE_TIMEOUT_MS = 15_000;
/** Over plain http these probably come from the proxy: no permission, wrong credentials, or an unreachable target. */
const PROXY_FAILURES = new Set([403, 407, 502, 503, 504]);
/** Statuses of our own egress proxy for failures of the upstream. */
const GUARD_FAILURES_FROM = 590;

/** Checks whether a target responds through a proxy. Rejects with `invalid_input` if `url` is not public. */
export type UpstreamCheck = (upstream: Upstream, url?: string) => Promise<boolean>;

/** What {@link createUpstreamCheck} needs. */
export interface UpstreamCheckDeps {
  policy: EgressPolicy;
  resolver?: Resolver;
  /** Target if the caller names none. */
  defaultUrl?: string;
  timeoutMs?: number;
}

/** Checks take the same route as the browser of a session. */
export function createUpstreamCheck(deps: UpstreamCheckDeps): UpstreamCheck {
  const { policy, resolver = systemResolver, defaultUrl = DEFAULT_CHECK_URL, timeoutMs = RESPONSE_TIMEOUT_MS } = deps;
  return async (upstream, url) => {
    const target = url === undefined ? new URL(defaultUrl) : await checkedTarget(url, policy, resolver);
    const egress = await startEgressProxy({
      policy,
      resolver,
      // A bypassed target would not test the proxy.
      upstream: { ...upstream, bypassHosts: [] },
    });
    const dispatcher = new ProxyAgent({ uri: egress.url, proxyTunnel: target.protocol === 'https:' });
    // A signal would not abort a request without a connection.
    const timer = setTimeout(() => void dispatcher.destroy(), timeoutMs);
    try {
      const { statusCode, body } = await request(target, { dispatcher });
      body.on('error', () => undefined).destroy();
      if (target.protocol === 'https:') return true;
      return !PROXY_FAILURES.has(statusCode) && statusCode < GUARD_FAILURES_FROM;
    } catch {
      // The error may quote the proxy's response.
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
