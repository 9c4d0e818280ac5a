import { sql } from 'kysely';
import type { Db } from '../database.ts';

/** Places in the schedule of health checks: numbers from 0 up without gaps for new ones, by interval. */
export interface CheckSlotQueries {
  /**
   * The place that a connection has among all of this interval: the one it holds, else the lowest that is free. What it held at
   * another interval becomes free. Null when there is no such connection. Race-safe, and the same when it is asked again.
   */
  take(connectionId: string, intervalSeconds: number): Promise<number | null>;
}

/** Queries of places in the schedule of checks. */
export function createCheckSlotQueries(db: Db): CheckSlotQueries {
  return {
    take: (connectionId, intervalSeconds) =>
      db.transaction().execute(async (trx) => {
        // One at a time for an interval: two would take the same place. A removal waits, or has been before.
        await sql`select pg_advisory_xact_lock(hashtext('check_slots'), ${intervalSeconds}::integer)`.execute(trx);
        const connection = await trx
          .selectFrom('connections')
          .select('id')
          .where('id', '=', connectionId)
          .where('deleted_at', 'is', null)
          .forShare()
          .executeTakeFirst();
        if (connection === undefined) return null;
        const held = await trx
          .selectFrom('check_slots')
          .select(['interval_seconds', 'slot'])
          .where('connection_id', '=', connectionId)
          .executeTakeFirst();
        if (held?.interval_seconds === intervalSeconds) return held.slot;
        if (held !== undefined) await freeSlot(trx, connectionId);
        return (await reuse(trx, connectionId, intervalSeconds)) ?? (await add(trx, connectionId, intervalSeconds));
      }),
  };
}

/** Gives up the place of a connection, in the transaction that removes it. */
export async function freeSlot(trx: Db, connectionId: string): Promise<void> {
  await trx.updateTable('check_slots').set({ connection_id: null }).where('connection_id', '=', connectionId).execute();
}

async function reuse(trx: Db, connectionId: string, intervalSeconds: number): Promise<number | null> {
  const lowest = trx
    .selectFrom('check_slots')
    .select('slot')
    .where('interval_seconds', '=', intervalSeconds)
    .where('connection_id', 'is', null)
    .orderBy('slot')
    .limit(1);
  const taken = await trx
    .updateTable('check_slots')
    .set({ connection_id: connectionId })
    .where('interval_seconds', '=', intervalSeconds)
    .where('slot', '=', lowest)
    .returning('slot')
    .executeTakeFirst();
  return taken?.slot ?? null;
}

async function add(trx: Db, connectionId: string, intervalSeconds: number): Promise<number> {
  const last = await trx
    .selectFrom('check_slots')
    .select('slot')
    .where('interval_seconds', '=', intervalSeconds)
    .orderBy('slot', 'desc')
    .limit(1)
    .executeTakeFirst();
  const slot = last === undefined ? 0 : last.slot + 1;
  await trx
    .insertInto('check_slots')
    .values({ interval_seconds: intervalSeconds, slot, connection_id: connectionId })
    .execute();
  return slot;
}
