import type { Db } from './database.ts';
import { dropArchives, sealArchives } from './queries/program-archives.ts';
import type { Vault } from './vault/vault.ts';

/** How long it is remembered which TOTP periods were used, in milliseconds: no site takes a code that old. */
const TOTP_USES_KEPT_MS = 60 * 60_000;
/** How long the ledger of a flow is kept, in milliseconds: far beyond the 20 minutes that a flow lives. */
const LEDGER_KEPT_MS = 7 * 24 * 60 * 60_000;
/** How long what programs have said, and invocations that have ended, are kept, in milliseconds. */
const INVOCATIONS_KEPT_MS = 30 * 24 * 60 * 60_000;
/** Most rows of the audit log that one sweep looks at: there may be millions. */
const AUDIT_ROWS_A_SWEEP = 1000;
/** How long what was delivered, or waits for a paused webhook, is kept, in milliseconds. */
const DELIVERIES_KEPT_MS = 30 * 24 * 60 * 60_000;

/**
 * Deletes what only had a use for a time: expired submissions and handoffs, old TOTP uses, the ledger of flows long over,
 * timeline events and audit rows older than `kept` says, deliveries a month old, archives of programs
 * that nothing refers to any more. Seals archives that are not. Call it every minute or so, from any process. Answers how many rows went.
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
    await db.deleteFrom('recordings').where('expires_at', '<=', now).executeTakeFirst(),
    await db.deleteFrom('handoffs').where('expires_at', '<=', now).executeTakeFirst(),
    await db.deleteFrom('totp_uses').where('at', '<=', before(TOTP_USES_KEPT_MS)).executeTakeFirst(),
    await db.deleteFrom('typing_ledger').where('at', '<=', before(LEDGER_KEPT_MS)).executeTakeFirst(),
    await db.deleteFrom('timeline_events').where('at', '<=', before(kept.timelineMs)).executeTakeFirst(),
    await db.deleteFrom('webhook_deliveries').where('created_at', '<=', before(DELIVERIES_KEPT_MS)).executeTakeFirst(),
    await db.deleteFrom('app_events').where('at', '<=', before(INVOCATIONS_KEPT_MS)).executeTakeFirst(),
    await db.deleteFrom('invocations').where('finished_at', '<=', before(INVOCATIONS_KEPT_MS)).executeTakeFirst(),
    await db
      .deleteFrom('api_keys')
      .where('invocation_id', 'is not', null)
      .where('expires_at', '<=', now)
      .executeTakeFirst(),
    await sweepAuditLog(db, before(kept.auditMs)),
    await db.deleteFrom('rate_limits').where('expire', '<=', now.getTime()).executeTakeFirst(),
  ];
  await dropArchives(db, now);
  await sealArchives(db, vault);
  return counts.reduce((sum, { numDeletedRows }) => sum + Number(numDeletedRows), 0);
}

/** Rows go in the order in which they were written, none out of the middle: the others stay one chain. */
async function sweepAuditLog(db: Db, until: Date): Promise<{ numDeletedRows: bigint }> {
  const oldest = await db
    .selectFrom('audit_log')
    .select(['seq', 'timestamp'])
    .orderBy('seq')
    .limit(AUDIT_ROWS_A_SWEEP)
    .execute();
  const kept = oldest.findIndex(({ timestamp }) => timestamp > until);
  const last = oldest.at(kept === -1 ? -1 : kept - 1);
  if (kept === 0 || last === undefined) return { numDeletedRows: 0n };
  return db.deleteFrom('audit_log').where('seq', '<=', last.seq).executeTakeFirstOrThrow();
}
