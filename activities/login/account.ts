import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import type { LoginTarget } from '../../contract/activities.ts';
import type { KnownAccount } from '../../contract/document.ts';
import { placeOf } from './landing-url.ts';
import { seeFrames } from './reading/frames.ts';
import { findNamedAccount } from '../../reader/signs/signed-in.ts';

/** The account that a signed-in page names, or null. Its names leave the page as fingerprints of this connection alone. */
export async function accountOn(
  page: Page,
  { connectionId }: Pick<LoginTarget, 'connectionId'>,
): Promise<KnownAccount | null> {
  const { email, name } = findNamedAccount(await seeFrames(page));
  if (email === undefined && name === undefined) return null;
  const fingerprint = (named: string): string =>
    createHash('sha256').update(`${connectionId}\n${named}`).digest('base64url').slice(0, 22);
  return {
    page: placeOf(page.url()),
    ...(email === undefined ? {} : { email: fingerprint(email) }),
    ...(name === undefined ? {} : { name: fingerprint(name) }),
  };
}

/**
 * True only when the same page named another account before. The address decides; a name does where no address is known.
 * Pure.
 */
export function isOtherAccount(before: KnownAccount | null | undefined, now: KnownAccount | null): boolean {
  if (before === null || before === undefined || now === null || before.page !== now.page) return false;
  if (before.email !== undefined && now.email !== undefined) return before.email !== now.email;
  return before.name !== undefined && now.name !== undefined && before.name !== now.name;
}
