import type { LookupFunction } from 'node:net';
import { pinnedLookup } from './lookup.ts';
import type { EgressPolicy } from './policy.ts';
import { resolveChecked, systemResolver, type Resolver } from './resolve.ts';

/**
 * A `lookup` for agents of node:https that answers with checked addresses alone. For names: an address in a URL is not looked
 * up, so that such URLs need a check of their own.
 */
export function guardedLookup(policy: EgressPolicy, resolver: Resolver = systemResolver): LookupFunction {
  return (hostname, options, callback) => {
    resolveChecked(policy, hostname, 443, resolver).then(
      (addresses) => {
        pinnedLookup(addresses)(hostname, options, callback);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error('The name could not be resolved'), '');
      },
    );
  };
}
