import ipaddr from 'ipaddr.js';

/** A host that an operator has allowed although its address is private. */
export interface AllowedHost {
  /** Canonical host name or address (lower case, no brackets, no trailing dot). */
  host: string;
  /** One port, or null for all ports of the host. */
  port: number | null;
}

/** Where browsers, webhooks and any other address that a user gives may go. Pure: it resolves nothing. */
export interface EgressPolicy {
  readonly allowedHosts: readonly AllowedHost[];
}

/** Nothing private is allowed. */
export const PUBLIC_ONLY: EgressPolicy = { allowedHosts: [] };

/**
 * Cloud machinery that answers on an address outside the private ranges: Azure's host agent hands out credentials to
 * whoever asks from inside a machine. (Other metadata services live in ranges that are refused anyway.)
 */
const FORBIDDEN_PUBLIC_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Only these addresses of IPv6 are handed out to the public internet; what is outside is local or not assigned. */
const IPV6_GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** The one spelling by which hosts are compared: lower case, no brackets, no trailing dot, addresses normalized. */
export function canonicalHost(host: string): string {
  const bare = host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  return ipaddr.IPv6.isValid(bare) ? ipaddr.IPv6.parse(bare).toString() : bare;
}

/**
 * Reads `HOLDFAST_ALLOW_PRIVATE_HOSTS`: `host` for all its ports or `host:port`, comma-separated, IPv6 in brackets when
 * a port follows. Throws a `TypeError` that names the entry which cannot be read.
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
  // WHATWG parsing turns `127.1` and `LOCALHOST` into what a browser will ask for.
  const url = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`) : null;
  if (url === null) throw new TypeError(`HOLDFAST_ALLOW_PRIVATE_HOSTS: "${entry}" has no valid host`);
  return { host: canonicalHost(url.hostname), port: port === undefined ? null : Number(port) };
}

/** A policy from the text of `HOLDFAST_ALLOW_PRIVATE_HOSTS`, with further hosts that the start-up code adds. */
export function createEgressPolicy(list = '', added: readonly AllowedHost[] = []): EgressPolicy {
  return { allowedHosts: [...parseAllowedHosts(list), ...added] };
}

/** True when the operator listed this host (for this port), whatever it resolves to. */
export function isListedHost(policy: EgressPolicy, host: string, port: number): boolean {
  const wanted = canonicalHost(host);
  return policy.allowedHosts.some((allowed) => allowed.host === wanted && (allowed.port ?? port) === port);
}

/**
 * Why an address is forbidden (the name of its range), or null when it is public. What cannot be read as an address is
 * forbidden too: an odd spelling must not slip through as "not an address".
 */
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
