import { addAuditPartitions, completeAuditIndexes, sweepAuditLog } from './audit-partitions.ts';
import type { Db } from './database.ts';
import { deleteArchives, sealArchives } from './queries/program-archives.ts';
import type { Vault } from './vault/vault.ts';

/** How long used TOTP periods are remembered: no site accepts a code that old. All retention times are in milliseconds. */
const TOTP_USE_RETENTION_MS = 60 * 60_000;
/** Far beyond the 20 minutes that a flow lives. */
const LEDGER_RETENTION_MS = 7 * 24 * 60 * 60_000;
/** For ended invocations and the events of programs. */
const INVOCATION_RETENTION_MS = 30 * 24 * 60 * 60_000;
/** Maximum timeline events and recordings (some MiB each) deleted per sweep: a shortened retention may leave very many. */
const EVENTS_PER_SWEEP = 10_000;
const RECORDINGS_PER_SWEEP = 50;
/** For webhook deliveries, including those pending for a paused webhook. */
const DELIVERY_RETENTION_MS = 30 * 24 * 60 * 60_000;

/** Tables whose rows are deleted at `expires_at`. */
const EXPIRING_TABLES = [
  'submissions',
  'handoffs',
  'oauth_grants',
  'oauth_records',
  'user_sessions',
  'sign_in_codes',
  'invitations',
] as const;

/**
 * Deletes expired rows of all tables, and archives of programs that nothing refers to any more. Also seals archives of older
 * versions, and creates audit log partitions and indexes. Call it about every minute, from any process. Returns the number
 * of deleted rows.
 */
export async function sweep(
  db: Db,
  vault: Vault,
  now: Date,
  retention: { timelineMs: number; auditMs: number },
): Promise<number> {
  const before = (age: number): Date => new Date(now.getTime() - age);
  const counts = [
    await sweepRecordings(db, now),
    await db.deleteFrom('totp_uses').where('at', '<=', before(TOTP_USE_RETENTION_MS)).executeTakeFirst(),
    await db.deleteFrom('typing_ledger').where('at', '<=', before(LEDGER_RETENTION_MS)).executeTakeFirst(),
    await sweepTimeline(db, before(retention.timelineMs)),
    await db
      .deleteFrom('webhook_deliveries')
      .where('created_at', '<=', before(DELIVERY_RETENTION_MS))
      .executeTakeFirst(),
    await db.deleteFrom('app_events').where('at', '<=', before(INVOCATION_RETENTION_MS)).executeTakeFirst(),
    await db.deleteFrom('invocations').where('finished_at', '<=', before(INVOCATION_RETENTION_MS)).executeTakeFirst(),
    await db
      .deleteFrom('api_keys')
      .where('invocation_id', 'is not', null)
      .where('expires_at', '<=', now)
      .executeTakeFirst(),
    await sweepAuditLog(db, before(retention.auditMs)),
    await db.deleteFrom('rate_limits').where('expire', '<=', now.getTime()).executeTakeFirst(),
  ];
  for (const table of EXPIRING_TABLES)
    counts.push(await db.deleteFrom(table).where('expires_at', '<=', now).executeTakeFirst());
  await addAuditPartitions(db, now);
  await deleteArchives(db, now);
  await sealArchives(db, vault);
  // Last, because it may take minutes.
  await completeAuditIndexes(db);
  return counts.reduce((sum, { numDeletedRows }) => sum + Number(numDeletedRows), 0);
}

function sweepTimeline(db: Db, until: Date) {
  const old = db
    .selectFrom('timeline_events')
    .select('id')
    .where('at', '<=', until)
    .orderBy('at')
    .limit(EVENTS_PER_SWEEP);
  return db.deleteFrom('timeline_events').where('id', 'in', old).executeTakeFirst();
}

function sweepRecordings(db: Db, until: Date) {
  const old = db
    .selectFrom('recordings')
    .select('id')
    .where('expires_at', '<=', until)
    .orderBy('expires_at')
    .limit(RECORDINGS_PER_SWEEP);
  return db.deleteFrom('recordings').where('id', 'in', old).executeTakeFirst();
}
