import { sql, type Migration } from 'kysely';

/** Webhooks, and what is to be delivered to each: written with the state of which it tells. */
export const webhooks: Migration = {
  up: async (db) => {
    await sql`create table webhooks (
      id text primary key,
      organization_id text not null references organizations,
      project_id text not null references projects,
      url text not null,
      description text not null,
      events text[] not null,
      sealed_secret bytea not null,
      sealed_former_secret bytea,
      former_until timestamptz,
      status text not null,
      paused_reason text,
      failing_since timestamptz,
      last_success_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (project_id, url)
    )`.execute(db);
    await sql`create table webhook_deliveries (
      seq bigserial primary key,
      id text not null unique,
      webhook_id text not null references webhooks on delete cascade,
      lane text not null,
      message_id text not null,
      event_type text not null,
      payload json not null,
      status text not null,
      attempts integer not null,
      dispatch_at timestamptz not null,
      next_attempt_at timestamptz,
      first_attempt_at timestamptz,
      last_attempt_at timestamptz,
      last_status_code integer,
      last_error text,
      created_at timestamptz not null
    )`.execute(db);
    await sql`create index webhook_deliveries_list on webhook_deliveries (webhook_id, seq)`.execute(db);
    await sql`create index webhook_deliveries_lane on webhook_deliveries (webhook_id, lane, seq)
      where status = 'pending'`.execute(db);
    await sql`create index webhook_deliveries_due on webhook_deliveries (dispatch_at) where status = 'pending'`.execute(
      db,
    );
    await sql`create index webhook_deliveries_age on webhook_deliveries (created_at)`.execute(db);
  },
};
