import { sql, type Migration } from 'kysely';

/** External secret stores that logins take credentials from. */
export const credentialProviders: Migration = {
  up: async (db) => {
    await sql`create table credential_providers (
      id text primary key,
      organization_id text not null references organizations,
      name text not null,
      provider_type text not null,
      address text,
      mount text,
      namespace text,
      region text,
      sealed_token bytea not null,
      cache_ttl_seconds integer not null,
      enabled boolean not null,
      priority integer not null,
      search text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (organization_id, name)
    )`.execute(db);
  },
};
