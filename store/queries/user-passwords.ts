import { z } from 'zod';
import type { Db } from '../database.ts';
import type { SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';

/** The hash of a password, and the secret (base32) of its authenticator. */
export interface PasswordRecord {
  hash: string;
  totpSecret: string;
}

/** Passwords of users, each with an authenticator. */
export interface UserPasswordQueries {
  find(userId: string): Promise<PasswordRecord | null>;
  /** Stores a pending password beside the active one until a code of its authenticator confirms it. */
  setPending(userId: string, password: PasswordRecord): Promise<void>;
  findPending(userId: string): Promise<PasswordRecord | null>;
  /** Replaces the active password with the pending one. */
  activatePending(userId: string): Promise<void>;
}

const Stored = z.object({ hash: z.string(), totpSecret: z.string() });

/** Queries of users' passwords. */
export function createUserPasswordQueries(db: Db, vault: Vault, clock: () => Date): UserPasswordQueries {
  const rowOf = (userId: string, trx: Db = db) =>
    trx
      .selectFrom('users')
      .select(['organization_id', 'password_hash', 'sealed_totp_secret', 'sealed_pending_password'])
      .where('id', '=', userId)
      .executeTakeFirst();
  const pendingPlace = (userId: string): SealedPlace => ({
    table: 'users',
    column: 'sealed_pending_password',
    rowId: userId,
  });
  const secretPlace = (userId: string): SealedPlace => ({
    table: 'users',
    column: 'sealed_totp_secret',
    rowId: userId,
  });
  const findPending = async (userId: string, trx: Db = db): Promise<PasswordRecord | null> => {
    const row = await rowOf(userId, trx);
    if (row === undefined || row.sealed_pending_password === null) return null;
    return Stored.parse(
      await vault.openJson(trx, row.organization_id, pendingPlace(userId), row.sealed_pending_password),
    );
  };
  return {
    findPending,
    find: async (userId) => {
      const row = await rowOf(userId);
      if (row === undefined || row.password_hash === null || row.sealed_totp_secret === null) return null;
      const totpSecret = await vault.openJson(db, row.organization_id, secretPlace(userId), row.sealed_totp_secret);
      return Stored.parse({ hash: row.password_hash, totpSecret });
    },
    setPending: (userId, password) =>
      db.transaction().execute(async (trx) => {
        const row = await rowOf(userId, trx);
        if (row === undefined) return;
        const sealed = await vault.sealJson(trx, row.organization_id, pendingPlace(userId), password);
        await trx.updateTable('users').set({ sealed_pending_password: sealed }).where('id', '=', userId).execute();
      }),
    activatePending: (userId) =>
      db.transaction().execute(async (trx) => {
        const row = await rowOf(userId, trx);
        const next = await findPending(userId, trx);
        if (row === undefined || next === null) return;
        await trx
          .updateTable('users')
          .set({
            password_hash: next.hash,
            sealed_totp_secret: await vault.sealJson(trx, row.organization_id, secretPlace(userId), next.totpSecret),
            sealed_pending_password: null,
            updated_at: clock(),
          })
          .where('id', '=', userId)
          .execute();
      }),
  };
}
