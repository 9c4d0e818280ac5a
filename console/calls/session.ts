import { queryOptions } from '@tanstack/react-query';
import type { Session } from '../../contract/people.ts';
import { call, CallError } from './call.ts';

export type { Session };

/** The session of this browser; null when nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['/session'],
  queryFn: async (): Promise<Session | null> => {
    try {
      return await call<Session>('GET', '/session');
    } catch (error) {
      if (error instanceof CallError && (error.status === 401 || error.status === 404)) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

/** Codes from the opened link: to sign in, or to accept an invitation. */
export interface LinkCodes {
  signIn: string | null;
  invitation: string | null;
}

/**
 * Removes one-time codes from the address (`/console#code=…`, `#invitation=…`) before anything else runs, so that neither the
 * history nor an onlooker can pick them up.
 */
export function consumeLinkCodes(): LinkCodes {
  const codes = { signIn: linkCodeOf(location.href), invitation: linkCodeOf(location.href, 'invitation') };
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return codes;
}

/** The code in a link, or null. */
export function linkCodeOf(link: string, name: 'code' | 'invitation' = 'code'): string | null {
  return new URLSearchParams(link.split('#')[1]?.trim()).get(name);
}

/** Signs in with the code of a one-time link. Rejects with {@link CallError}. */
export function signInByLink(code: string): Promise<unknown> {
  return call('POST', '/session/link', { code });
}

/** Signs in with a password and an authenticator code. Rejects with {@link CallError}. */
export function signInByPassword(values: { email: string; password: string; code: string }): Promise<unknown> {
  return call('POST', '/session/password', values);
}

/** Signs out. */
export function signOut(): Promise<unknown> {
  return call('DELETE', '/session');
}

const CONFIRMING = 'holdfast-confirming';

/**
 * Redirects to the identity provider to confirm the person's identity, then back to this page. Rejects with {@link CallError}.
 */
export async function confirmWithProvider(): Promise<void> {
  const here = location.pathname + location.search;
  const { url } = await call<{ url: string }>('POST', '/session/oidc/confirm', { return_to: here });
  sessionStorage.setItem(CONFIRMING, 'on');
  location.assign(url);
}

/** True, once, after the person came back from the provider confirmed. */
export function consumeConfirmation({ confirmed_until: until }: Session): boolean {
  if (sessionStorage.getItem(CONFIRMING) === null) return false;
  sessionStorage.removeItem(CONFIRMING);
  return until !== null && Date.parse(until) > Date.now();
}
