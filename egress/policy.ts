import ipaddr from 'ipaddr.js';

/** A host with a private address that the operator allows. */
export interface AllowedHost {
  /** Canonical host name or address (lower case, no brackets, no trailing dot). */
  host: string;
  /** One port, or null for all ports of the host. */
  port: number | null;
}

/** Which destinations browsers, webhooks and user-supplied URLs may connect to. */
export interface EgressPolicy {
  readonly allowedHosts: readonly AllowedHost[];
}

/** Allows no private addresses. */
export const PUBLIC_ONLY: EgressPolicy = { allowedHosts: [] };

/**
 * Azure's host agent, which issues credentials to any process on the machine, has a public address. Other metadata services are
 * in private ranges.
 */
const FORBIDDEN_PUBLIC_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** The public IPv6 addresses; all others are local or unassigned. */
const IPV6_GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** The canonical form for comparing hosts: lower case, no brackets, no trailing dot, normalized addresses. */
export function canonicalHost(host: string): string {
  const bare = host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  return ipaddr.IPv6.isValid(bare) ? ipaddr.IPv6.parse(bare).toString() : bare;
}

/**
 * Parses `HOLDFAST_ALLOW_PRIVATE_HOSTS`: comma-separated `host` (all ports) or `host:port`, with IPv6 addresses in brackets before a
 * port. Throws a `TypeError` naming the invalid entry.
 */
export function parseAllowedHosts(list: string): AllowedHost[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(parseAllowedHost);
}

function parseAllowedHost(entry: string): AllowedHost {
  if (ipaddr.IPv6.isValid(entry)) return { host: canonicalHost(entry), port: null };
  const match = /^(?<host>\[[0-9a-f:.]+\]|[^\s:/@?#[\]]+)(?::(?<port>\d{1,5}))?$/i.exec(entry);
  const host = match?.groups?.['host'];
  const port = match?.groups?.['port'];
  if (host === undefined) {
    throw new TypeError(`HOLDFAST_ALLOW_PRIVATE_HOSTS: "${entry}" is neither "host" nor "host:port"`);
  }
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) {
    throw new TypeError(`HOLDFAST_ALLOW_PRIVATE_HOSTS: the port of "${entry}" is not between 1 and 65535`);
  }
  // WHATWG parsing normalizes `127.1` and `LOCALHOST` as browsers do.
  const url = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`) : null;
  if (url === null) throw new TypeError(`HOLDFAST_ALLOW_PRIVATE_HOSTS: "${entry}" has no valid host`);
  return { host: canonicalHost(url.hostname), port: port === undefined ? null : Number(port) };
}

/** Creates a policy from `HOLDFAST_ALLOW_PRIVATE_HOSTS` and further hosts added at start-up. */
export function createEgressPolicy(list = '', added: readonly AllowedHost[] = []): EgressPolicy {
  return { allowedHosts: [...parseAllowedHosts(list), ...added] };
}

/** True if the operator allows this host and port, whatever it resolves to. */
export function isListedHost(policy: EgressPolicy, host: string, port: number): boolean {
  const wanted = canonicalHost(host);
  return policy.allowedHosts.some((allowed) => allowed.host === wanted && (allowed.port ?? port) === port);
}

/** The range that makes an address forbidden, or null if it is public. Unparsable addresses are forbidden as well. */
export function forbiddenRange(address: string): string | null {
  const bare = canonicalHost(address);
  if (FORBIDDEN_PUBLIC_ADDRESSES.has(bare)) return 'cloudMetadata';
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) {
    const range = ipaddr.IPv4.parse(bare).range();
    return range === 'unicast' ? null : range;
  }
  if (!ipaddr.IPv6.isValid(bare)) return 'unreadable';
  const parsed = ipaddr.IPv6.parse(bare);
  const range = parsed.range();
  if (range !== 'unicast') return range;
  return parsed.match(IPV6_GLOBAL_UNICAST) ? null : 'unassigned';
}
