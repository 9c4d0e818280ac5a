import { sql } from 'kysely';
import type { Db } from './database.ts';

/** How many months ahead partitions are created. */
const MONTHS_AHEAD = 2;
/** Maximum number of rows that one sweep examines: there may be millions. */
const ROWS_PER_SWEEP = 1000;
/** How long dropping a partition waits for readers, in milliseconds: writers queue behind it. The next sweep retries. */
const LOCK_TIMEOUT_MS = 1000;

/** Creates the partitions of this month and the next ones. An append creates a missing one itself. */
export async function addAuditPartitions(db: Db, now: Date): Promise<void> {
  for (let month = 0; month <= MONTHS_AHEAD; month += 1) {
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + month));
    await sql`select add_audit_log_partition(${first})`.execute(db);
  }
}

/** Deletes rows received until `until`: whole months, then the oldest rows. Returns the number of the latter. */
export async function sweepAuditLog(db: Db, until: Date): Promise<{ numDeletedRows: bigint }> {
  await dropMonthsBefore(db, until);
  // In the order in which they were written, without gaps, so that the rest stays one chain.
  const oldest = await db
    .selectFrom('audit_log')
    .select(['seq', 'timestamp'])
    .orderBy('seq')
    .limit(ROWS_PER_SWEEP)
    .execute();
  const retained = oldest.findIndex(({ timestamp }) => timestamp > until);
  const last = oldest.at(retained === -1 ? -1 : retained - 1);
  if (retained === 0 || last === undefined) return { numDeletedRows: 0n };
  return db.deleteFrom('audit_log').where('seq', '<=', last.seq).executeTakeFirstOrThrow();
}

/** Rows are received before they are written, so a month that ended by `until` has no rows to retain. */
async function dropMonthsBefore(db: Db, until: Date): Promise<void> {
  const current = `audit_log_${until.toISOString().slice(0, 7).replace('-', '_')}`;
  const { rows } = await sql<{ name: string }>`select c.relname as name from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'audit_log'::regclass and c.relname < ${current} order by 1`.execute(db);
  for (const { name } of rows)
    await db.transaction().execute(async (trx) => {
      await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(trx);
      await sql`drop table if exists ${sql.table(name)}`.execute(trx);
    });
}

/** Advisory lock: only one process creates indexes. */
const INDEX_LOCK = 1096107093;

/**
 * Creates indexes that partitions lack since a migration, while the log stays readable and writable. Until then, searches
 * scan such a month row by row. Safe to repeat: an unfinished index is recreated.
 */
export async function completeAuditIndexes(db: Db): Promise<void> {
  if ((await findMissingIndexes(db)).length === 0) return;
  await db.connection().execute(async (session) => {
    const { rows } = await sql<{ is_locked: boolean }>`select pg_try_advisory_lock(${INDEX_LOCK}) as is_locked`.execute(
      session,
    );
    if (rows[0]?.is_locked !== true) return;
    try {
      for (const { parent, month, name, definition } of await findMissingIndexes(session)) {
        await sql`drop index concurrently if exists ${sql.table(name)}`.execute(session);
        const statement = `create index concurrently "${name}" on "${month}" ${definition}`;
        await sql.raw(statement).execute(session);
        await sql`alter index ${sql.table(parent)} attach partition ${sql.table(name)}`.execute(session);
      }
    } finally {
      await sql`select pg_advisory_unlock(${INDEX_LOCK})`.execute(session);
    }
  });
}

interface MissingIndex {
  parent: string;
  month: string;
  name: string;
  /** The part of the definition from `USING` on. */
  definition: string;
}

/** Partitions without their part of an index of the table, newest first, because it is read most. */
async function findMissingIndexes(db: Db): Promise<MissingIndex[]> {
  const { rows } = await sql<MissingIndex>`
    select parent.relname as parent, month.relname as month,
      month.relname || replace(parent.relname, 'audit_log', '') as name,
      substring(pg_get_indexdef(parent.oid) from 'USING .*') as definition
    from pg_index index join pg_class parent on parent.oid = index.indexrelid
      join pg_inherits months on months.inhparent = index.indrelid join pg_class month on month.oid = months.inhrelid
    where index.indrelid = 'audit_log'::regclass and not index.indisvalid
      and not exists (select from pg_inherits part join pg_index made on made.indexrelid = part.inhrelid
        where part.inhparent = parent.oid and made.indrelid = month.oid)
    order by month.relname desc`.execute(db);
  return rows;
}
