import { randomBytes } from 'node:crypto';
import type { Db } from '../database.ts';
import { KEY_BYTES, newKeyId } from './seal.ts';
import type { Vault } from './vault.ts';

/**
 * Signs codes and tokens of the hosted page; encrypts Temporal payloads; names workflows of connections; seals the audit log;
 * signs the access tokens of programs.
 */
export type KeyPurpose = 'hosted-page' | 'temporal-payloads' | 'connection-identity' | 'audit-log' | 'oauth-tokens';

/** Keys shared by all processes of an installation, wrapped by the master key. They survive a change of the master key. */
export interface InstallationKeys {
  /** Stores `first` (32 bytes) as the key of a purpose that has none. */
  ensure(purpose: KeyPurpose, first: Buffer): Promise<void>;
  /** The active key, followed by former ones. */
  all(purpose: KeyPurpose): Promise<Buffer[]>;
  /**
   * Replaces the active key of a purpose if it was created before `before`, and deletes all former keys but the replaced
   * one. Concurrent calls create one key.
   */
  rotateOlder(purpose: KeyPurpose, before: Date): Promise<void>;
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
    rotateOlder: async (purpose, before) => {
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
 * Replaces the active key of a purpose, unless it was created under the current master key: then an interrupted rotation has
 * already replaced it.
 */
export async function rotateInstallationKey(db: Db, vault: Vault, purpose: KeyPurpose, now: Date): Promise<void> {
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
