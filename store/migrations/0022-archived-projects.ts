import { sql, type Migration } from 'kysely';

/** When a project was last changed, archived and deleted. What was in a deleted one may still be told of, so its row stays. */
export const archivedProjects: Migration = {
  up: async (db) => {
    await sql`alter table projects add column updated_at timestamptz`.execute(db);
    await sql`update projects set updated_at = created_at`.execute(db);
    await sql`alter table projects alter column updated_at set not null`.execute(db);
    await sql`alter table projects add column archived_at timestamptz`.execute(db);
    await sql`alter table projects add column deleted_at timestamptz`.execute(db);
  },
};
