import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Held while an index is made: one process makes it. */
const TURN = 1096107093;

/**
 * Makes the indexes that months of the audit log still lack since a migration, while rows are read and written. Searches of such a month
 * read it row by row until then. Safe to repeat: an index that was not finished is made anew.
 */
export async function completeAuditIndexes(db: Db): Promise<void> {
  if ((await lacking(db)).length === 0) return;
  await db.connection().execute(async (own) => {
    const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_lock(${TURN}) as mine`.execute(own);
    if (rows[0]?.mine !== true) return;
    try {
      for (const { parent, month, name, definition } of await lacking(own)) {
        await sql`drop index concurrently if exists ${sql.table(name)}`.execute(own);
        const made = `create index concurrently "${name}" on "${month}" ${definition}`;
        await sql.raw(made).execute(own);
        await sql`alter index ${sql.table(parent)} attach partition ${sql.table(name)}`.execute(own);
      }
    } finally {
      await sql`select pg_advisory_unlock(${TURN})`.execute(own);
    }
  });
}

interface LackingIndex {
  parent: string;
  month: string;
  name: string;
  /** From `USING` on. */
  definition: string;
}

/** Months without their part of an index of the whole table, the newest first: it is read most. */
async function lacking(db: Db): Promise<LackingIndex[]> {
  const { rows } = await sql<LackingIndex>`
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
