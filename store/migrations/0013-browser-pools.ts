import { sql, type Migration } from 'kysely';

/** Browsers that are kept ready, by what they are started with. */
export const browserPools: Migration = {
  up: async (db) => {
    await sql`create table browser_pools (
      id text primary key,
      organization_id text not null references organizations,
      project_id text not null references projects,
      name text,
      config json not null,
      profile_id text,
      extension_ids text[] not null,
      created_at timestamptz not null,
      unique (project_id, name)
    )`.execute(db);
  },
};
