import { completeAuditIndexes } from './audit-indexes.ts';
import { addAuditPartitions, sweepAuditLog } from './audit-partitions.ts';
import type { Db } from './database.ts';
import { deleteArchives, sealArchives } from './queries/program-archives.ts';
import type { Vault } from './vault/vault.ts';

/** How long it is remembered which TOTP periods were used, in milliseconds: no site takes a code that old. */
const TOTP_USES_KEPT_MS = 60 * 60_000;
/** How long the ledger of a flow is kept, in milliseconds: far beyond the 20 minutes that a flow lives. */
const LEDGER_KEPT_MS = 7 * 24 * 60 * 60_000;
/** How long what programs have said, and invocations that have ended, are kept, in milliseconds. */
const INVOCATIONS_KEPT_MS = 30 * 24 * 60 * 60_000;
/** Most events of timelines, and most recordings (some MiB each), that one sweep deletes: a shorter setting may leave very many. */
const EVENTS_A_SWEEP = 10_000;
const RECORDINGS_A_SWEEP = 50;
/** How long what was delivered, or waits for a paused webhook, is kept, in milliseconds. */
const DELIVERIES_KEPT_MS = 30 * 24 * 60 * 60_000;

/**
 * Deletes what only had a use for a time: expired submissions and handoffs, old TOTP uses, the ledger of flows long over,
 * timeline events and audit rows older than `kept` says, deliveries a month old, archives of programs
 * that nothing refers to any more. Seals archives that are not, and makes indexes that an upgrade left to it. Call it every minute or so, from any process. Answers how many rows went.
 */
export async function sweep(
  db: Db,
  vault: Vault,
  now: Date,
  kept: { timelineMs: number; auditMs: number },
): Promise<number> {
  const before = (age: number): Date => new Date(now.getTime() - age);
  const counts = [
    await db.deleteFrom('submissions').where('expires_at', '<=', now).executeTakeFirst(),
    await sweepRecordings(db, now),
    await db.deleteFrom('handoffs').where('expires_at', '<=', now).executeTakeFirst(),
    await db.deleteFrom('totp_uses').where('at', '<=', before(TOTP_USES_KEPT_MS)).executeTakeFirst(),
    await db.deleteFrom('typing_ledger').where('at', '<=', before(LEDGER_KEPT_MS)).executeTakeFirst(),
    await sweepTimeline(db, before(kept.timelineMs)),
    await db.deleteFrom('webhook_deliveries').where('created_at', '<=', before(DELIVERIES_KEPT_MS)).executeTakeFirst(),
    await db.deleteFrom('app_events').where('at', '<=', before(INVOCATIONS_KEPT_MS)).executeTakeFirst(),
    await db.deleteFrom('invocations').where('finished_at', '<=', before(INVOCATIONS_KEPT_MS)).executeTakeFirst(),
    await db
      .deleteFrom('api_keys')
      .where('invocation_id', 'is not', null)
      .where('expires_at', '<=', now)
      .executeTakeFirst(),
    await db.deleteFrom('oauth_grants').where('expires_at', '<=', now).executeTakeFirst(),
    await db.deleteFrom('oauth_records').where('expires_at', '<=', now).executeTakeFirst(),
    await db.deleteFrom('user_sessions').where('expires_at', '<=', now).executeTakeFirst(),
    await db.deleteFrom('sign_in_codes').where('expires_at', '<=', now).executeTakeFirst(),
    await db.deleteFrom('invitations').where('expires_at', '<=', now).executeTakeFirst(),
    await sweepAuditLog(db, before(kept.auditMs)),
    await db.deleteFrom('rate_limits').where('expire', '<=', now.getTime()).executeTakeFirst(),
  ];
  await addAuditPartitions(db, now);
  await deleteArchives(db, now);
  await sealArchives(db, vault);
  // Last: it may take minutes.
  await completeAuditIndexes(db);
  return counts.reduce((sum, { numDeletedRows }) => sum + Number(numDeletedRows), 0);
}

function sweepTimeline(db: Db, until: Date) {
  const old = db
    .selectFrom('timeline_events')
    .select('id')
    .where('at', '<=', until)
    .orderBy('at')
    .limit(EVENTS_A_SWEEP);
  return db.deleteFrom('timeline_events').where('id', 'in', old).executeTakeFirst();
}

function sweepRecordings(db: Db, until: Date) {
  const old = db
    .selectFrom('recordings')
    .select('id')
    .where('expires_at', '<=', until)
    .orderBy('expires_at')
    .limit(RECORDINGS_A_SWEEP);
  return db.deleteFrom('recordings').where('id', 'in', old).executeTakeFirst();
}
