import type { SiteState } from './state.ts';
import { SANDBOX_USERS } from './users.ts';

/** Checks a code of the user's authenticator app; each code is taken once. */
export function checkTotp(state: SiteState, username: string, code: string): boolean {
  const user = SANDBOX_USERS.find((each) => each.username === username);
  if (!user || state.authenticators.refusesCode(username)) return false;
  return state.authenticators.takes(username, user.totpSecret, code);
}

/** A phone number as sites show it to somebody who has not proved who they are. */
export function maskedPhone(username: string): string {
  const user = SANDBOX_USERS.find((each) => each.username === username);
  return `•••-•••-••${user?.phoneEnding ?? '00'}`;
}

/** Another phone of the same person. */
export function secondPhone(username: string): string {
  const user = SANDBOX_USERS.find((each) => each.username === username);
  return `•••-•••-••${String(Number(user?.phoneEnding ?? 0) + 50)}`;
}

/** An e-mail address as sites show it. */
export function maskedEmail(username: string): string {
  return `${username.slice(0, 1)}•••@sandbox.test`;
}
