import { sql, type Migration } from 'kysely';

/** Keys of the whole installation, wrapped by the master key, so that they outlive it. */
export const installationKeys: Migration = {
  up: async (db) => {
    await sql`create table installation_keys (
      id text primary key,
      purpose text not null,
      wrapped bytea not null,
      wrapping_key_id text not null,
      active boolean not null,
      created_at timestamptz not null
    )`.execute(db);
    await sql`create unique index installation_keys_active on installation_keys (purpose) where active`.execute(db);
  },
};
