import { sql, type Migration } from 'kysely';

/** The tables of the first release. */
export const initial: Migration = {
  up: async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table organizations (
    id text primary key,
    name text not null,
    plan text not null,
    created_at timestamptz not null
  )`,
  `create table organization_keys (
    id text primary key,
    organization_id text not null references organizations,
    wrapped bytea not null,
    wrapping_key_id text not null,
    active boolean not null,
    created_at timestamptz not null
  )`,
  `create unique index organization_keys_active on organization_keys (organization_id) where active`,
  `create table projects (
    id text primary key,
    organization_id text not null references organizations,
    name text not null,
    created_at timestamptz not null
  )`,
  `create index projects_organization on projects (organization_id, created_at)`,
  `create table api_keys (
    id text primary key,
    organization_id text not null references organizations,
    project_id text references projects,
    name text not null,
    hash bytea not null unique,
    masked_key text not null,
    created_by_id text not null,
    created_by_email text not null,
    created_by_name text,
    created_at timestamptz not null,
    expires_at timestamptz,
    deleted_at timestamptz
  )`,
  `create index api_keys_newest on api_keys (organization_id, created_at desc, id desc)`,
  `create table profiles (
    id text primary key,
    organization_id text not null references organizations,
    project_id text not null references projects,
    name text,
    sealed_state bytea,
    revision bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    last_used_at timestamptz
  )`,
  `create unique index profiles_name on profiles (project_id, name)`,
  `create index profiles_newest on profiles (organization_id, created_at desc, id desc)`,
  `create table connections (
    id text primary key,
    organization_id text not null references organizations,
    project_id text not null references projects,
    profile_name text not null,
    domain text not null,
    search text not null,
    document json not null,
    revision bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz
  ) with (fillfactor = 70)`,
  `create unique index connections_identity on connections (project_id, profile_name, domain) where deleted_at is null`,
  // Lists walk one of these in order; search and scope are answered from the index alone.
  `create index connections_newest on connections (project_id, created_at desc, id desc) include (search)
    where deleted_at is null`,
  `create index connections_newest_of_organization on connections (organization_id, created_at desc, id desc)
    include (search) where deleted_at is null`,
  `create index connections_domain on connections (project_id, domain, created_at desc, id desc)
    where deleted_at is null`,
  `create table connection_keys (
    connection_id text primary key references connections,
    organization_id text not null references organizations,
    sealed_key bytea not null
  )`,
  `create table connection_states (
    seq bigserial primary key,
    connection_id text not null references connections,
    revision bigint not null,
    document json not null,
    at timestamptz not null
  )`,
  `create unique index connection_states_revision on connection_states (connection_id, revision)`,
  `create table timeline_events (
    id text primary key,
    connection_id text not null references connections,
    type text not null,
    at timestamptz not null,
    event json not null
  )`,
  `create index timeline_events_newest on timeline_events (connection_id, at desc, id desc)`,
  `create table credentials (
    id text primary key,
    organization_id text not null references organizations,
    project_id text not null references projects,
    name text not null,
    domain text not null,
    sso_provider text,
    sealed_values bytea not null,
    sealed_totp_secret bytea,
    value_keys text[] not null,
    version integer not null,
    search text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  `create unique index credentials_name on credentials (project_id, name)`,
  `create index credentials_newest on credentials (organization_id, created_at desc, id desc)`,
  `create table submissions (
    id text primary key,
    connection_id text not null references connections,
    interaction_id text not null,
    digest bytea not null,
    sealed_values bytea,
    created_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  `create unique index submissions_once on submissions (connection_id, interaction_id, digest)`,
  `create index submissions_expiry on submissions (expires_at)`,
  `create table typing_ledger (
    flow_id text not null,
    interaction_id text not null,
    connection_id text not null,
    submission_id text,
    state text not null,
    at timestamptz not null,
    primary key (flow_id, interaction_id)
  )`,
  `create index typing_ledger_connection on typing_ledger (connection_id)`,
  `create table totp_uses (
    credential_id text not null,
    period_counter bigint not null,
    at timestamptz not null,
    primary key (credential_id, period_counter)
  )`,
  `create table handoffs (
    code_hash bytea primary key,
    connection_id text not null references connections,
    flow_id text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    redeemed_at timestamptz
  )`,
  `create index handoffs_connection on handoffs (connection_id)`,
  `create index handoffs_expiry on handoffs (expires_at)`,
  `create table audit_log (
    seq bigserial primary key,
    timestamp timestamptz not null,
    organization_id text not null,
    project_id text,
    auth_strategy text not null,
    user_id text not null,
    email text not null,
    status integer not null,
    method text not null,
    path text not null,
    route text not null,
    domain text not null,
    duration_ms integer not null,
    client_ip text not null,
    user_agent text not null
  )`,
  `create index audit_log_organization on audit_log (organization_id, seq desc)`,
];
