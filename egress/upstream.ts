import { canonicalHost } from './policy.ts';

/** A proxy of the caller's own that traffic leaves through. Its address is as little trusted as any other that a user gives. */
export interface Upstream {
  protocol: 'http' | 'https';
  /** Host name or address; IPv6 without brackets. */
  host: string;
  port: number;
  username: string | null;
  /** Secret: never logged. */
  password: string | null;
  /** Hosts that go past it, straight to the target: `example.com`, or `*.example.com` for all below it. */
  bypassHosts: readonly string[];
}

/** The URL of an upstream, its user name and password in it. A secret. */
export function upstreamUrl(upstream: Upstream): string {
  const host = upstream.host.includes(':') ? `[${upstream.host}]` : upstream.host;
  const { username, password } = upstream;
  const login =
    username === null && password === null
      ? ''
      : `${encodeURIComponent(username ?? '')}:${encodeURIComponent(password ?? '')}@`;
  return `${upstream.protocol}://${login}${host}:${String(upstream.port)}`;
}

/** True when `host` goes past the upstream. */
export function bypasses(upstream: Upstream, host: string): boolean {
  const wanted = canonicalHost(host);
  return upstream.bypassHosts.some((entry) =>
    entry.startsWith('*.') ? wanted.endsWith(canonicalHost(entry.slice(1))) : wanted === canonicalHost(entry),
  );
}
