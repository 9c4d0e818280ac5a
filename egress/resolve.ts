import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { EgressPolicy } from './policy.ts';
import { canonicalHost, forbiddenRange, isListedHost } from './policy.ts';

/** One resolved address. */
export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** All addresses of a name. Tests inject their own; rejects when the name has none. */
export type Resolver = (host: string) => Promise<ResolvedAddress[]>;

/** The resolver of the machine (hosts file, then DNS). */
export const systemResolver: Resolver = async (host) => {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/** A destination was refused by the policy. The message names the host and the range, never a path or a query. */
export class EgressRefusedError extends Error {
  override readonly name = 'EgressRefusedError';
  readonly host: string;
  readonly range: string;

  constructor(host: string, port: number, range: string) {
    super(
      `Refused to connect to ${host}:${String(port)}: its address is not public (${range}). ` +
        'List the host in HOLDFAST_ALLOW_PRIVATE_HOSTS if it is meant to be reached.',
    );
    this.host = host;
    this.range = range;
  }
}

/**
 * The addresses that a connection to `host` may use: resolved once, every one checked. One forbidden address refuses
 * the whole name, because a caller may try any of them. Connect to what is returned and do not resolve again: a second
 * answer of the name server could differ (DNS rebinding). Throws {@link EgressRefusedError}, or the resolver's error.
 */
export async function resolveChecked(
  policy: EgressPolicy,
  host: string,
  port: number,
  resolver: Resolver = systemResolver,
): Promise<ResolvedAddress[]> {
  const bare = canonicalHost(host);
  const family = isIP(bare);
  const addresses: ResolvedAddress[] =
    family === 0 ? await resolver(bare) : [{ address: bare, family: family === 6 ? 6 : 4 }];
  if (isListedHost(policy, bare, port)) return addresses;
  for (const { address } of addresses) {
    const range = forbiddenRange(address);
    if (range !== null) throw new EgressRefusedError(bare, port, range);
  }
  return addresses;
}
