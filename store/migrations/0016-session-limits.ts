import { sql, type Migration } from 'kysely';

/** How many browser sessions a project may have at a time: its own limit, or what its organization gives to all. */
export const sessionLimits: Migration = {
  up: async (db) => {
    await sql`alter table organizations add column default_project_max_sessions integer`.execute(db);
    await sql`alter table projects add column max_sessions integer`.execute(db);
  },
};
