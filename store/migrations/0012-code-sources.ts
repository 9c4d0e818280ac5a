import { sql, type Migration } from 'kysely';

/** Who passes on messages with one-time codes, and to whom the messages of a number or an address belong. */
export const codeSources: Migration = {
  up: async (db) => {
    await sql`create table code_sources (
      id text primary key,
      organization_id text not null references organizations,
      project_id text not null references projects,
      source_type text not null,
      sealed_secret bytea not null,
      created_at timestamptz not null
    )`.execute(db);
    await sql`alter table connections add column code_phone text, add column code_email text`.execute(db);
    await sql`create index connections_code_phone on connections (code_phone) where code_phone is not null`.execute(db);
    await sql`create index connections_code_email on connections (code_email) where code_email is not null`.execute(db);
  },
};
