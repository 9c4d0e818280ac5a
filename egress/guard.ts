import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { Dispatcher } from 'undici';
import { invalidField, type HoldfastError } from '../contract/errors.ts';
import { pinnedLookup } from './lookup.ts';
import type { EgressPolicy } from './policy.ts';
import { canonicalHost, forbiddenRange, isListedHost } from './policy.ts';
import type { Resolver } from './resolve.ts';
import { resolveChecked, systemResolver } from './resolve.ts';

/** How {@link checkUserUrl} judges. */
export interface UserUrlRules {
  policy: EgressPolicy;
  /** Name of the field that the URL came in, for the message. */
  field: string;
  /** True when plain http is only for hosts that the operator listed. */
  httpsOnly?: boolean;
}

/**
 * Reads a URL that a user gave: http or https, no user name or password in it, host normalized as browsers do it, and
 * not a forbidden address. Names are not resolved here: that happens where the connection is made. Throws
 * `invalid_input` naming the field.
 */
export function checkUserUrl(text: string, rules: UserUrlRules): URL {
  const refuse = (why: string): HoldfastError => invalidField(rules.field, why, 'invalid_url');
  if (!URL.canParse(text)) throw refuse('must be an absolute http or https URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('only http and https URLs are allowed');
  if (url.username !== '' || url.password !== '') throw refuse('a URL must not carry a user name or password');
  const host = canonicalHost(url.hostname);
  const listed = isListedHost(rules.policy, host, portOf(url));
  if (rules.httpsOnly === true && url.protocol === 'http:' && !listed) throw refuse('must use https');
  if (!listed && isIP(host) !== 0 && forbiddenRange(host) !== null) {
    throw refuse('addresses that are not public are refused unless their host is listed');
  }
  return url;
}

/** Port of a URL, the scheme's default included. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/**
 * An undici dispatcher whose every connection is resolved once, checked and made to a checked address. Pass it to
 * `fetch` or `request`; each redirect opens its own connection and is checked again. A refused destination rejects with
 * `EgressRefusedError` (as the `cause` of fetch's TypeError).
 */
export function createGuardedDispatcher(policy: EgressPolicy, resolver: Resolver = systemResolver): Dispatcher {
  return new Agent({
    connect: (options, callback) => {
      const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
      resolveChecked(policy, options.hostname, port, resolver).then(
        (addresses) => {
          buildConnector({ lookup: pinnedLookup(addresses) })(options, callback);
        },
        (error: unknown) => {
          callback(error instanceof Error ? error : new Error('The name could not be resolved'), null);
        },
      );
    },
  });
}
