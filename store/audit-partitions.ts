import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Months whose partitions are made before they begin. */
const MONTHS_AHEAD = 2;
/** Most rows of the audit log that one sweep looks at: there may be millions. */
const ROWS_A_SWEEP = 1000;
/** How long a partition waits for those who read it, in milliseconds; who writes waits behind it. The next sweep tries again. */
const PATIENCE_MS = 1000;

/** Makes the partitions of this month and the next ones; an append makes one that is missing by itself. */
export async function addAuditPartitions(db: Db, now: Date): Promise<void> {
  for (let month = 0; month <= MONTHS_AHEAD; month += 1) {
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + month));
    await sql`select add_audit_log_partition(${first})`.execute(db);
  }
}

/** Deletes rows received until `until`: whole months in one step each, then the oldest rows. Answers how many of the latter. */
export async function sweepAuditLog(db: Db, until: Date): Promise<{ numDeletedRows: bigint }> {
  await dropMonthsBefore(db, until);
  // In the order in which they were written, none out of the middle: the others stay one chain.
  const oldest = await db
    .selectFrom('audit_log')
    .select(['seq', 'timestamp'])
    .orderBy('seq')
    .limit(ROWS_A_SWEEP)
    .execute();
  const kept = oldest.findIndex(({ timestamp }) => timestamp > until);
  const last = oldest.at(kept === -1 ? -1 : kept - 1);
  if (kept === 0 || last === undefined) return { numDeletedRows: 0n };
  return db.deleteFrom('audit_log').where('seq', '<=', last.seq).executeTakeFirstOrThrow();
}

/** Rows are received before they are written, so a month that is over by `until` holds none to keep. */
async function dropMonthsBefore(db: Db, until: Date): Promise<void> {
  const current = `audit_log_${until.toISOString().slice(0, 7).replace('-', '_')}`;
  const { rows } = await sql<{ name: string }>`select c.relname as name from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'audit_log'::regclass and c.relname < ${current} order by 1`.execute(db);
  for (const { name } of rows)
    await db.transaction().execute(async (trx) => {
      await sql.raw(`set local lock_timeout = ${PATIENCE_MS}`).execute(trx);
      await sql`drop table if exists ${sql.table(name)}`.execute(trx);
    });
}
