import type { LookupFunction } from 'node:net';
import type { ResolvedAddress } from './resolve.ts';

/** A `lookup` for node:net that answers only with addresses which are already checked: nothing is resolved again. */
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
