import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { type EgressPolicy, canonicalHost, forbiddenRange, isListedHost } from './policy.ts';

/** One resolved address. */
export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** Resolves all addresses of a name. Rejects if it has none. */
export type Resolver = (host: string) => Promise<ResolvedAddress[]>;

/** The system resolver (hosts file, then DNS). */
export const systemResolver: Resolver = async (host) => {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/** The policy refused a destination. The message contains the host and the range, never a path or a query. */
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
 * Resolves `host` once and checks every address. One forbidden address refuses the name, because a caller may try any of them.
 * Connect to the returned addresses without resolving again (DNS rebinding). Throws {@link EgressRefusedError}, or the resolver's
 * error.
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

/** A `lookup` for node:net that returns only addresses that are already checked, without resolving. */
export function pinnedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (hostname, options, callback) => {
    const wanted =
      options.family === 4 || options.family === 'IPv4' ? 4 : options.family === 6 || options.family === 'IPv6' ? 6 : 0;
    const usable = wanted === 0 ? [...addresses] : addresses.filter((entry) => entry.family === wanted);
    const first = usable[0];
    if (first === undefined) {
      const error: NodeJS.ErrnoException = new Error(`No address for ${hostname}`);
      error.code = 'ENOTFOUND';
      callback(error, '');
      return;
    }
    if (options.all === true) callback(null, usable);
    else callback(null, first.address, first.family);
  };
}

/** A `lookup` for node:https agents that returns only checked addresses. URLs with a literal address bypass it and need their own check. */
export function guardedLookup(policy: EgressPolicy, resolver: Resolver = systemResolver): LookupFunction {
  return (hostname, options, callback) => {
    resolveChecked(policy, hostname, 443, resolver).then(
      (addresses) => pinnedLookup(addresses)(hostname, options, callback),
      (error: unknown) => callback(error instanceof Error ? error : new Error('The name could not be resolved'), ''),
    );
  };
}
