import { sql, type Migration } from 'kysely';

/** Programs of users: what was deployed, the versions of apps that came of it, their invocations, and what these said. */
export const apps: Migration = {
  up: async (db) => {
    await sql`create table deployments (
      id text primary key,
      organization_id text not null references organizations,
      project_id text not null references projects,
      status text not null,
      status_reason text,
      entrypoint text not null,
      version text not null,
      force boolean not null,
      env_names json not null,
      sealed_env_vars bytea not null,
      archive bytea not null,
      checksum text not null,
      search text not null,
      event_count integer not null default 0,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
    await sql`alter table deployments alter column archive set storage external`.execute(db);
    await sql`create index deployments_project on deployments (project_id, created_at)`.execute(db);
    await sql`create table app_versions (
      id text primary key,
      organization_id text not null references organizations,
      project_id text not null references projects,
      deployment_id text not null references deployments,
      app_name text not null,
      version text not null,
      actions json not null,
      search text not null,
      created_at timestamptz not null,
      unique (project_id, app_name, version)
    )`.execute(db);
    await sql`create table invocations (
      id text primary key,
      organization_id text not null references organizations,
      project_id text not null references projects,
      deployment_id text not null references deployments,
      app_name text not null,
      version text not null,
      action_name text not null,
      status text not null,
      sealed_payload bytea,
      sealed_outcome bytea,
      retries integer not null,
      search text not null,
      event_count integer not null default 0,
      started_at timestamptz not null,
      expires_at timestamptz not null,
      finished_at timestamptz
    )`.execute(db);
    await sql`create index invocations_project on invocations (project_id, started_at)`.execute(db);
    await sql`create index invocations_open on invocations (started_at) where finished_at is null`.execute(db);
    await sql`create table app_events (
      id text primary key,
      organization_id text not null references organizations,
      subject_id text not null,
      number integer not null,
      at timestamptz not null,
      sealed_body bytea not null,
      unique (subject_id, number)
    )`.execute(db);
    await sql`create index app_events_at on app_events (at)`.execute(db);
    await sql`alter table api_keys add column invocation_id text`.execute(db);
    await sql`create index api_keys_invocation on api_keys (invocation_id) where invocation_id is not null`.execute(db);
  },
};
