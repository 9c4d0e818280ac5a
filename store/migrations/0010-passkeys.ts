import { sql, type Migration } from 'kysely';

/** Passkeys of a credential: sealed, and beside them what a caller may know of them. */
export const passkeys: Migration = {
  up: async (db) => {
    await sql`alter table credentials add column sealed_passkeys bytea,
      add column passkeys json not null default '[]'`.execute(db);
  },
};
