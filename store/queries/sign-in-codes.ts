import type { Db } from '../database.ts';
import { hashSecretToken, newSecretToken } from '../secret-tokens.ts';

/** What a code is for; none is good for anything else. */
export type SignInCodePurpose = 'link' | 'passkey_challenge' | 'passkey_registration' | 'oidc';

/** Codes that are good once on the way to a session. Only their hashes are stored. */
export interface SignInCodeQueries {
  /** Makes a code; `userId` where it is for one person, `data` for whoever redeems it. No secret belongs into `data`. */
  create(
    purpose: SignInCodePurpose,
    input: { userId: string | null; data?: unknown; lifetimeMs: number },
  ): Promise<string>;
  /** One atomic update: what was stored with the code, for the first who comes with it; null for all others. */
  redeem(purpose: SignInCodePurpose, code: string): Promise<{ userId: string | null; data: unknown } | null>;
}

/** Queries of sign-in codes. */
export function createSignInCodeQueries(db: Db, clock: () => Date): SignInCodeQueries {
  return {
    create: async (purpose, { userId, data = null, lifetimeMs }) => {
      const now = clock();
      const code = newSecretToken();
      await db
        .insertInto('sign_in_codes')
        .values({
          code_hash: hashSecretToken(code),
          purpose,
          user_id: userId,
          data: JSON.stringify(data),
          created_at: now,
          expires_at: new Date(now.getTime() + lifetimeMs),
          redeemed_at: null,
        })
        .execute();
      return code;
    },
    redeem: async (purpose, code) => {
      const now = clock();
      const row = await db
        .updateTable('sign_in_codes')
        .set({ redeemed_at: now })
        .where('code_hash', '=', hashSecretToken(code))
        .where('purpose', '=', purpose)
        .where('redeemed_at', 'is', null)
        .where('expires_at', '>', now)
        .returning(['user_id', 'data'])
        .executeTakeFirst();
      return row === undefined ? null : { userId: row.user_id, data: row.data };
    },
  };
}
