import { sql, type Migration } from 'kysely';

/** Browser extensions that sessions may be started with. */
export const extensions: Migration = {
  up: async (db) => {
    await sql`create table extensions (
      id text primary key,
      organization_id text not null references organizations,
      project_id text not null references projects,
      name text,
      size_bytes integer not null,
      checksum text not null,
      archive bytea not null,
      search text not null,
      created_at timestamptz not null,
      last_used_at timestamptz,
      unique (project_id, name)
    )`.execute(db);
    // A ZIP is compressed already: trying again costs time and saves nothing.
    await sql`alter table extensions alter column archive set storage external`.execute(db);
  },
};
