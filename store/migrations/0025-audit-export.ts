import { sql, type Migration } from 'kysely';

/** Where organizations have their audit log delivered to, and how far each delivery has come. */
export const auditExport: Migration = {
  up: async (db) => {
    await sql`create table audit_export_destinations (
      id text primary key,
      organization_id text not null references organizations,
      region text not null,
      bucket text not null,
      prefix text not null,
      role_arn text not null,
      external_id text not null,
      kms_key_id text,
      status text not null,
      activation integer not null,
      exported_at timestamptz not null,
      exported_seq bigint not null,
      last_exported_cursor text,
      consecutive_failures integer not null,
      last_error text,
      last_error_at timestamptz,
      last_success_at timestamptz,
      next_attempt_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);
    await sql`create index audit_export_destinations_list
      on audit_export_destinations (organization_id, created_at, id)`.execute(db);
  },
};
