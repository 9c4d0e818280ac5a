import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { AuditLogEntry } from '../../contract/audit-logs.ts';
import type { Db } from '../database.ts';

/** A position in an organization's audit log: after the row `seq` at time `at`. `seq` 0 precedes all rows of that time. */
export interface AuditPosition {
  at: Date;
  seq: number;
}

/** A row to export. `eventId` is the same on every read. */
export interface AuditEvent {
  position: AuditPosition;
  eventId: string;
  entry: AuditLogEntry;
}

/** Reads the audit log forward, for exports. */
export interface AuditExportQueries {
  /** Up to `limit` rows of an organization after a position and before a time, oldest first. */
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
        // No row is written before its timestamp: partitions of earlier months are skipped.
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

/** An opaque, versioned checkpoint for callers. The audit log's list does not accept it as a page token. */
export function writeExportCursor({ at, seq }: AuditPosition): string {
  return Buffer.from(`audit-export:1:${String(at.getTime())}:${String(seq)}`).toString('base64url');
}

/** Hashed, so that it does not reveal how many rows other organizations have. */
function eventIdOf(organizationId: string, seq: number): string {
  const digest = createHash('sha256')
    .update(`audit event\n${organizationId}\n${String(seq)}`)
    .digest('hex');
  return `aud_${BigInt(`0x${digest.slice(0, 32)}`)
    .toString(36)
    .padStart(25, '0')}`;
}
