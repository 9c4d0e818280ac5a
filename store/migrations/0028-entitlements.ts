import { sql, type Migration } from 'kysely';

/** Whether an organization has turned its projects off, and how many connections it may have; null for no bound. */
export const entitlements: Migration = {
  up: async (db) => {
    await sql`alter table organizations add column projects_disabled boolean not null default false,
      add column max_auth_connections integer`.execute(db);
  },
};
