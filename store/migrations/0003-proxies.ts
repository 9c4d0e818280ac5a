import { sql, type Migration } from 'kysely';

/** Proxies that sessions and connections go through. */
export const proxies: Migration = {
  up: async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table proxies (
    id text primary key,
    organization_id text not null references organizations,
    project_id text not null references projects,
    name text,
    protocol text not null,
    host text not null,
    port integer not null,
    username text,
    sealed_password bytea,
    bypass_hosts text[] not null,
    status text,
    last_checked_at timestamptz,
    search text not null,
    created_at timestamptz not null,
    deleted_at timestamptz
  )`,
  `create index proxies_newest on proxies (organization_id, created_at desc, id desc) where deleted_at is null`,
  `create index proxies_name on proxies (project_id, name) where deleted_at is null and name is not null`,
];
