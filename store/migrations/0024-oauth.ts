import { sql, type Migration } from 'kysely';

/** What a person has allowed a program, and what the authorization server keeps for a time: no code or token is in clear. */
export const oauth: Migration = {
  up: async (db) => {
    await sql`create table oauth_grants (
      id text primary key,
      organization_id text not null references organizations,
      user_id text not null,
      project_id text references projects,
      access text not null,
      client_id text not null,
      client_name text not null,
      created_at timestamptz not null,
      last_used_at timestamptz,
      expires_at timestamptz not null,
      foreign key (organization_id, user_id) references memberships (organization_id, user_id) on delete cascade
    )`.execute(db);
    await sql`create index oauth_grants_user on oauth_grants (organization_id, user_id)`.execute(db);
    await sql`create index oauth_grants_age on oauth_grants (expires_at)`.execute(db);
    await sql`create table oauth_records (
      model text not null,
      id_hash bytea not null,
      payload json not null,
      grant_id text,
      expires_at timestamptz not null,
      consumed_at timestamptz,
      primary key (model, id_hash)
    )`.execute(db);
    await sql`create index oauth_records_grant on oauth_records (grant_id)`.execute(db);
    await sql`create index oauth_records_age on oauth_records (expires_at)`.execute(db);
  },
};
