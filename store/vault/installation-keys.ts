import { randomBytes } from 'node:crypto';
import type { Db } from '../database.ts';
import { KEY_BYTES, newKeyId } from './seal.ts';
import type { Vault } from './vault.ts';

/**
 * Signing codes and tokens of the hosted page; encrypting what Temporal holds; naming workflows of connections; sealing the audit
 * log; signing the access tokens of programs.
 */
export type KeyPurpose = 'hosted-page' | 'temporal-payloads' | 'connection-identity' | 'audit-log' | 'oauth-tokens';

/** Keys that all processes of an installation share. They are wrapped by the master key, and stay when it changes. */
export interface InstallationKeys {
  /** Keeps `first` (32 bytes) as the key of a purpose that has none yet. */
  ensure(purpose: KeyPurpose, first: Buffer): Promise<void>;
  /** The key in use, and after it those that were before. */
  all(purpose: KeyPurpose): Promise<Buffer[]>;
  /**
   * Gives a purpose a new key where the one in use was made before `before`, and forgets all but the one that it replaces.
   * Several processes may come at once: one makes it.
   */
  renewOlder(purpose: KeyPurpose, before: Date): Promise<void>;
}

/** Queries of installation keys. */
export function createInstallationKeys(db: Db, vault: Vault, clock: () => Date): InstallationKeys {
  return {
    ensure: async (purpose, first) => {
      const known = await db
        .selectFrom('installation_keys')
        .select('id')
        .where('purpose', '=', purpose)
        .executeTakeFirst();
      if (known === undefined) await insertActive(db, vault, purpose, first, clock());
    },
    all: async (purpose) => {
      const rows = await db
        .selectFrom('installation_keys')
        .selectAll()
        .where('purpose', '=', purpose)
        .orderBy('active', 'desc')
        .orderBy('created_at', 'desc')
        .execute();
      return Promise.all(rows.map((row) => vault.unwrap('installation_keys', row)));
    },
    renewOlder: async (purpose, before) => {
      await db.transaction().execute(async (trx) => {
        const old = await trx
          .selectFrom('installation_keys')
          .select('id')
          .where('purpose', '=', purpose)
          .where('active', '=', true)
          .where('created_at', '<=', before)
          .forUpdate()
          .executeTakeFirst();
        if (old === undefined) return;
        await trx.deleteFrom('installation_keys').where('purpose', '=', purpose).where('active', '=', false).execute();
        await trx.updateTable('installation_keys').set({ active: false }).where('id', '=', old.id).execute();
        await insertActive(trx, vault, purpose, randomBytes(KEY_BYTES), clock());
      });
    },
  };
}

/**
 * Gives a purpose a new key, unless the one in use was made under the present master key: then a rotation that was killed
 * has done so already.
 */
export async function renewInstallationKey(db: Db, vault: Vault, purpose: KeyPurpose, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const active = await trx
      .selectFrom('installation_keys')
      .selectAll()
      .where('purpose', '=', purpose)
      .where('active', '=', true)
      .forUpdate()
      .executeTakeFirst();
    if (active === undefined || active.wrapping_key_id === (await vault.wrappingKeyId())) return;
    await trx.updateTable('installation_keys').set({ active: false }).where('id', '=', active.id).execute();
    await insertActive(trx, vault, purpose, randomBytes(KEY_BYTES), now);
  });
}

async function insertActive(db: Db, vault: Vault, purpose: KeyPurpose, key: Buffer, now: Date): Promise<void> {
  const id = newKeyId();
  await db
    .insertInto('installation_keys')
    .values({ id, purpose, ...(await vault.wrap('installation_keys', id, key)), active: true, created_at: now })
    .onConflict((conflict) => conflict.column('purpose').where('active', '=', true).doNothing())
    .execute();
}
