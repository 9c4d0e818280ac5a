import type { SiteState } from './state.ts';
import { SANDBOX_USERS } from './users.ts';

/** Checks a code of the user's authenticator app. Each code is accepted once. */
export function checkTotp(state: SiteState, username: string, code: string): boolean {
  const user = SANDBOX_USERS.find((each) => each.username === username);
  if (!user || state.authenticators.shouldRefuse(username)) return false;
  return state.authenticators.accepts(username, user.totpSecret, code);
}

/** A phone number as sites display it before sign-in. */
export function maskedPhone(username: string): string {
  const user = SANDBOX_USERS.find((each) => each.username === username);
  return `•••-•••-••${user?.phoneEnding ?? '00'}`;
}

/** The user's second phone number. */
export function secondPhone(username: string): string {
  const user = SANDBOX_USERS.find((each) => each.username === username);
  return `•••-•••-••${String(Number(user?.phoneEnding ?? 0) + 50)}`;
}

/** An e-mail address as sites display it before sign-in. */
export function maskedEmail(username: string): string {
  return `${username.slice(0, 1)}•••@sandbox.test`;
}
