import { sql, type Migration } from 'kysely';

/** The audit log is read by the time of its rows, and each row is bound to the one before it. */
export const auditLogChain: Migration = {
  up: async (db) => {
    await sql`alter table audit_log add column previous_seal bytea, add column seal bytea`.execute(db);
    await sql`create index audit_log_time on audit_log (organization_id, timestamp desc, seq desc)`.execute(db);
    await sql`drop index audit_log_organization`.execute(db);
  },
};
