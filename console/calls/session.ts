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

/** What the link that was opened holds: a code that signs in, or that of an invitation. */
export interface LinkCodes {
  signIn: string | null;
  invitation: string | null;
}

/**
 * Takes one-time codes out of the address (`/console#code=…`, `#invitation=…`) before anything else runs, so that neither the
 * history nor a look over the shoulder keeps them.
 */
export function consumeLinkCodes(): LinkCodes {
  const codes = { signIn: linkCodeOf(location.href), invitation: linkCodeOf(location.href, 'invitation') };
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return codes;
}

/** The code in a link; null where there is none. */
export function linkCodeOf(link: string, name: 'code' | 'invitation' = 'code'): string | null {
  return new URLSearchParams(link.split('#')[1]?.trim()).get(name);
}

/** Begins a session by the code of a one-time link. Rejects with {@link CallError}. */
export function signInByLink(code: string): Promise<unknown> {
  return call('POST', '/session/link', { code });
}

/** Begins a session by a password, and a code of the authenticator. Rejects with {@link CallError}. */
export function signInByPassword(values: { email: string; password: string; code: string }): Promise<unknown> {
  return call('POST', '/session/password', values);
}

/** Ends the session. */
export function signOut(): Promise<unknown> {
  return call('DELETE', '/session');
}

const CONFIRMING = 'holdfast-confirming';

/** Leaves for the identity provider, which asks who one is, and comes back to this page. Rejects with {@link CallError}. */
export async function confirmWithProvider(): Promise<void> {
  const here = location.pathname + location.search;
  const { url } = await call<{ url: string }>('POST', '/session/oidc/confirm', { return_to: here });
  sessionStorage.setItem(CONFIRMING, 'on');
  location.assign(url);
}

/** True once after the person has come back from there confirmed. */
export function consumeConfirmation({ confirmed_until: until }: Session): boolean {
  if (sessionStorage.getItem(CONFIRMING) === null) return false;
  sessionStorage.removeItem(CONFIRMING);
  return until !== null && Date.parse(until) > Date.now();
}
