import { sql, type Migration } from 'kysely';

/** How many invocations a project may have at a time; null for no limit. */
export const invocationLimits: Migration = {
  up: async (db) => {
    await sql`alter table projects add column max_invocations integer`.execute(db);
  },
};
