import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { Dispatcher } from 'undici';
import { invalidField, type HoldfastError } from '../contract/errors.ts';
import { pinnedLookup, type Resolver, resolveChecked, systemResolver } from './resolve.ts';
import type { EgressPolicy } from './policy.ts';
import { canonicalHost, forbiddenRange, isListedHost } from './policy.ts';

/** The rules for {@link checkUserUrl}. */
interface UserUrlRules {
  policy: EgressPolicy;
  /** The field that contained the URL, for error messages. */
  field: string;
  /** Whether plain http is only allowed for hosts on the operator's list. */
  httpsOnly?: boolean;
}

/**
 * Parses a user-supplied URL: http or https, without credentials, not to a forbidden address. Names are resolved only when the
 * connection is made. Throws `invalid_input` naming the field.
 */
export function checkUserUrl(text: string, rules: UserUrlRules): URL {
  const refuse = (why: string): HoldfastError => invalidField(rules.field, why, 'invalid_url');
  if (!URL.canParse(text)) throw refuse('must be an absolute http or https URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('must be an http or https URL');
  if (url.username !== '' || url.password !== '') throw refuse('must not contain a user name or password');
  const host = canonicalHost(url.hostname);
  const listed = isListedHost(rules.policy, host, portOf(url));
  if (rules.httpsOnly === true && url.protocol === 'http:' && !listed) throw refuse('must use https');
  if (!listed && isIP(host) !== 0 && forbiddenRange(host) !== null) {
    throw refuse('the address is not public; use a public one, or have the operator allow the host');
  }
  return url;
}

/** The port of a URL, or its scheme's default. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/**
 * An undici dispatcher that resolves each connection's host once and connects only to a checked address. Redirects open a new
 * connection and are checked again. A refused destination rejects with `EgressRefusedError` (for fetch, as the `cause`).
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
