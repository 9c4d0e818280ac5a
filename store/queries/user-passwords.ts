import { z } from 'zod';
import type { Db } from '../database.ts';
import type { SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';

/** A password, as its hash, and the secret (base32) of the authenticator that goes with it. */
export interface PasswordRecord {
  hash: string;
  totpSecret: string;
}

/** Passwords of people, each with an authenticator. */
export interface UserPasswordQueries {
  find(userId: string): Promise<PasswordRecord | null>;
  /** Keeps a new password beside the former one until its authenticator has shown a code. */
  propose(userId: string, password: PasswordRecord): Promise<void>;
  proposed(userId: string): Promise<PasswordRecord | null>;
  /** Has the proposed password take the place of the former one. */
  adopt(userId: string): Promise<void>;
}

const Stored = z.object({ hash: z.string(), totpSecret: z.string() });

/** Queries of passwords of people. */
export function createUserPasswordQueries(db: Db, vault: Vault, clock: () => Date): UserPasswordQueries {
  const rowOf = (userId: string, trx: Db = db) =>
    trx
      .selectFrom('users')
      .select(['organization_id', 'password_hash', 'sealed_totp_secret', 'sealed_pending_password'])
      .where('id', '=', userId)
      .executeTakeFirst();
  const pending = (userId: string): SealedPlace => ({
    table: 'users',
    column: 'sealed_pending_password',
    rowId: userId,
  });
  const secret = (userId: string): SealedPlace => ({ table: 'users', column: 'sealed_totp_secret', rowId: userId });
  const proposed = async (userId: string, trx: Db = db): Promise<PasswordRecord | null> => {
    const row = await rowOf(userId, trx);
    if (row === undefined || row.sealed_pending_password === null) return null;
    return Stored.parse(await vault.openJson(trx, row.organization_id, pending(userId), row.sealed_pending_password));
  };
  return {
    proposed,
    find: async (userId) => {
      const row = await rowOf(userId);
      if (row === undefined || row.password_hash === null || row.sealed_totp_secret === null) return null;
      const totpSecret = await vault.openJson(db, row.organization_id, secret(userId), row.sealed_totp_secret);
      return Stored.parse({ hash: row.password_hash, totpSecret });
    },
    propose: (userId, password) =>
      db.transaction().execute(async (trx) => {
        const row = await rowOf(userId, trx);
        if (row === undefined) return;
        const sealed = await vault.sealJson(trx, row.organization_id, pending(userId), password);
        await trx.updateTable('users').set({ sealed_pending_password: sealed }).where('id', '=', userId).execute();
      }),
    adopt: (userId) =>
      db.transaction().execute(async (trx) => {
        const row = await rowOf(userId, trx);
        const next = await proposed(userId, trx);
        if (row === undefined || next === null) return;
        await trx
          .updateTable('users')
          .set({
            password_hash: next.hash,
            sealed_totp_secret: await vault.sealJson(trx, row.organization_id, secret(userId), next.totpSecret),
            sealed_pending_password: null,
            updated_at: clock(),
          })
          .where('id', '=', userId)
          .execute();
      }),
  };
}
