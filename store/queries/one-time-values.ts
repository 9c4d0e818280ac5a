import type { Db } from '../database.ts';
import { affectsRow, findOne } from '../scope.ts';
import { hashSecretToken, newSecretToken } from '../secret-tokens.ts';

/** Used handoff codes of the hosted page. The API creates and verifies codes statelessly; the store makes them single-use. */
export interface HandoffQueries {
  /**
   * One atomic insert: true for the first caller with that code, false for every later one. `expiresAt` is the expiry of
   * the code itself, after which the row is no longer needed.
   */
  redeem(codeHash: Buffer, connectionId: string, flowId: string, expiresAt: Date): Promise<boolean>;
}

/** The used TOTP periods of credentials. */
export interface TotpUseQueries {
  /** True for the first caller of a period (`floor(unix seconds / period)`): no code is sent twice. */
  claim(credentialId: string, periodCounter: number): Promise<boolean>;
}

/** The purpose of a sign-in code; a code is valid only for its own. */
type SignInCodePurpose = 'link' | 'passkey_challenge' | 'passkey_registration' | 'oidc';

/** Single-use codes for signing in. Only their hashes are stored. */
export interface SignInCodeQueries {
  /** Creates a code, for one user if `userId` is set. `redeem` returns `data`, which must not contain secrets. */
  create(
    purpose: SignInCodePurpose,
    input: { userId: string | null; data?: unknown; lifetimeMs: number },
  ): Promise<string>;
  /** One atomic update: the data stored with the code for the first caller, null for every later one. */
  redeem(purpose: SignInCodePurpose, code: string): Promise<{ userId: string | null; data: unknown } | null>;
}

/** Queries of handoffs. */
export function createHandoffQueries(db: Db, clock: () => Date): HandoffQueries {
  return {
    redeem: (codeHash, connectionId, flowId, expiresAt) => {
      const now = clock();
      const values = {
        code_hash: codeHash,
        connection_id: connectionId,
        flow_id: flowId,
        created_at: now,
        expires_at: expiresAt,
        redeemed_at: now,
      };
      return affectsRow(
        db
          .insertInto('handoffs')
          .values(values)
          .onConflict((conflict) => conflict.column('code_hash').doNothing()),
      );
    },
  };
}

/** Queries of TOTP uses. */
export function createTotpUseQueries(db: Db, clock: () => Date): TotpUseQueries {
  return {
    claim: (credentialId, periodCounter) =>
      affectsRow(
        db
          .insertInto('totp_uses')
          .values({ credential_id: credentialId, period_counter: periodCounter, at: clock() })
          .onConflict((conflict) => conflict.columns(['credential_id', 'period_counter']).doNothing()),
      ),
  };
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
    redeem: (purpose, code) => {
      const now = clock();
      return findOne(
        db
          .updateTable('sign_in_codes')
          .set({ redeemed_at: now })
          .where('code_hash', '=', hashSecretToken(code))
          .where('purpose', '=', purpose)
          .where('redeemed_at', 'is', null)
          .where('expires_at', '>', now)
          .returning(['user_id as userId', 'data']),
        (row) => row,
      );
    },
  };
}
