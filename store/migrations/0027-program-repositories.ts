import { sql, type Migration } from 'kysely';

/** Where the program of a deployment was fetched; null for one whose archive was sent. */
export const programRepositories: Migration = {
  up: async (db) => {
    await sql`alter table deployments add column repository jsonb`.execute(db);
  },
};
