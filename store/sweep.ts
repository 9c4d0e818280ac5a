import type { Db } from './database.ts';

/** How long it is remembered which TOTP periods were used, in milliseconds: no site takes a code that old. */
const TOTP_USES_KEPT_MS = 60 * 60_000;
/** How long the ledger of a flow is kept, in milliseconds: far beyond the 20 minutes that a flow lives. */
const LEDGER_KEPT_MS = 7 * 24 * 60 * 60_000;

/**
 * Deletes what only had a use for a time: expired submissions and handoffs, old TOTP uses, the ledger of flows long over,
 * timeline events older than `timelineKeptMs`. Call it every minute or so, from any process. Answers how many rows went.
 */
export async function sweep(db: Db, now: Date, timelineKeptMs: number): Promise<number> {
  const before = (age: number): Date => new Date(now.getTime() - age);
  const counts = [
    await db.deleteFrom('submissions').where('expires_at', '<=', now).executeTakeFirst(),
    await db.deleteFrom('recordings').where('expires_at', '<=', now).executeTakeFirst(),
    await db.deleteFrom('handoffs').where('expires_at', '<=', now).executeTakeFirst(),
    await db.deleteFrom('totp_uses').where('at', '<=', before(TOTP_USES_KEPT_MS)).executeTakeFirst(),
    await db.deleteFrom('typing_ledger').where('at', '<=', before(LEDGER_KEPT_MS)).executeTakeFirst(),
    await db.deleteFrom('timeline_events').where('at', '<=', before(timelineKeptMs)).executeTakeFirst(),
    await db.deleteFrom('rate_limits').where('expire', '<=', now.getTime()).executeTakeFirst(),
  ];
  return counts.reduce((sum, { numDeletedRows }) => sum + Number(numDeletedRows), 0);
}
