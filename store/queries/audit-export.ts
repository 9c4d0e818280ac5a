import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { AuditLogEntry } from '../../contract/audit-logs.ts';
import type { Db } from '../database.ts';

/** A place in an organization's audit log: after the row of this number at this time. Number 0 is before all of that time. */
export interface AuditPosition {
  at: Date;
  seq: number;
}

/** A row as it is exported. `eventId` is the same whenever the row is read. */
export interface AuditEvent {
  position: AuditPosition;
  eventId: string;
  entry: AuditLogEntry;
}

/** Reads the audit log forward, as exports do. */
export interface AuditExportQueries {
  /** At most `limit` rows of an organization after a position and before a time, oldest first. */
  read(organizationId: string, range: { after: AuditPosition; before: Date; limit: number }): Promise<AuditEvent[]>;
}

const COLUMNS = [
  'seq',
  'timestamp',
  'auth_strategy',
  'user_id',
  'email',
  'status',
  'method',
  'path',
  'route',
  'domain',
  'duration_ms',
  'client_ip',
  'user_agent',
] as const;

/** Queries for exports of the audit log. */
export function createAuditExportQueries(db: Db): AuditExportQueries {
  return {
    read: async (organizationId, { after, before, limit }) => {
      const rows = await db
        .selectFrom('audit_log')
        .select(COLUMNS)
        .where('organization_id', '=', organizationId)
        .where('timestamp', '<', before)
        // No row is written before its time: months before that are not looked into.
        .where('written_at', '>=', after.at)
        .where(sql<boolean>`(timestamp, seq) > (${after.at}::timestamptz, ${after.seq}::bigint)`)
        .orderBy('timestamp')
        .orderBy('seq')
        .limit(limit)
        .execute();
      return rows.map(({ seq, timestamp, ...rest }) => ({
        position: { at: timestamp, seq },
        eventId: eventIdOf(organizationId, seq),
        entry: { timestamp: timestamp.toISOString(), ...rest },
      }));
    },
  };
}

/** A checkpoint as callers see it: opaque, with a version of its own. The audit log's list takes it for no page token. */
export function writeExportCursor({ at, seq }: AuditPosition): string {
  return Buffer.from(`audit-export:1:${String(at.getTime())}:${String(seq)}`).toString('base64url');
}

/** Says nothing of how many rows other organizations have. */
function eventIdOf(organizationId: string, seq: number): string {
  const digest = createHash('sha256')
    .update(`audit event\n${organizationId}\n${String(seq)}`)
    .digest('hex');
  return `aud_${BigInt(`0x${digest.slice(0, 32)}`)
    .toString(36)
    .padStart(25, '0')}`;
}
