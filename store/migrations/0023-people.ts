import { sql, type Migration } from 'kysely';

/** People, what they belong to, and the sessions in which they work. Tokens and codes are kept as hashes alone. */
export const people: Migration = {
  up: async (db) => {
    await sql`create table users (
      id text primary key,
      organization_id text not null references organizations,
      email text not null unique,
      name text,
      password_hash text,
      sealed_totp_secret bytea,
      sealed_pending_password bytea,
      oidc_subject text unique,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
    await sql`create table user_passkeys (
      id text primary key,
      user_id text not null references users on delete cascade,
      name text not null,
      public_key bytea not null,
      counter bigint not null,
      transports json not null,
      created_at timestamptz not null,
      last_used_at timestamptz
    )`.execute(db);
    await sql`create index user_passkeys_user on user_passkeys (user_id)`.execute(db);
    await sql`create table memberships (
      organization_id text not null references organizations,
      user_id text not null references users on delete cascade,
      role text not null,
      created_at timestamptz not null,
      primary key (organization_id, user_id)
    )`.execute(db);
    await sql`create index memberships_user on memberships (user_id)`.execute(db);
    await sql`create table invitations (
      id text primary key,
      organization_id text not null references organizations,
      email text not null,
      role text not null,
      code_hash bytea not null unique,
      invited_by text not null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      unique (organization_id, email)
    )`.execute(db);
    await sql`create table user_sessions (
      id text primary key,
      token_hash bytea not null unique,
      user_id text not null,
      organization_id text not null,
      created_at timestamptz not null,
      last_seen_at timestamptz not null,
      expires_at timestamptz not null,
      confirmed_at timestamptz,
      foreign key (organization_id, user_id) references memberships (organization_id, user_id) on delete cascade
    )`.execute(db);
    await sql`create index user_sessions_user on user_sessions (user_id)`.execute(db);
    await sql`create index user_sessions_age on user_sessions (expires_at)`.execute(db);
    await sql`create table sign_in_codes (
      code_hash bytea primary key,
      purpose text not null,
      user_id text references users on delete cascade,
      data json not null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      redeemed_at timestamptz
    )`.execute(db);
    await sql`create index sign_in_codes_age on sign_in_codes (expires_at)`.execute(db);
  },
};
