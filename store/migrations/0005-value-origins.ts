import { sql, type Migration } from 'kysely';

/** Where each value of a credential was typed by a person: it is typed nowhere else. What has no entry came by the API. */
export const valueOrigins: Migration = {
  up: async (db) => {
    await sql`alter table credentials add column value_origins json not null default '{}'`.execute(db);
  },
};
