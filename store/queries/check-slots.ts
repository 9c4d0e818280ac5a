import { sql } from 'kysely';
import type { Db } from '../database.ts';

/** Slots in the schedule of health checks: per interval, numbered from 0; new slots leave no gaps. */
export interface CheckSlotQueries {
  /**
   * Assigns a connection a slot of an interval: the one it has, else the lowest free one. Releases its slot of another
   * interval. Null if there is no such connection. Race-safe and idempotent.
   */
  take(connectionId: string, intervalSeconds: number): Promise<number | null>;
}

/** Queries of check slots. */
export function createCheckSlotQueries(db: Db): CheckSlotQueries {
  return {
    take: (connectionId, intervalSeconds) =>
      db.transaction().execute(async (trx) => {
        // Serialized per interval, so that two calls never take the same slot. The lock on the row makes a removal wait.
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
        if (held !== undefined) await releaseSlot(trx, connectionId);
        return (
          (await reuseSlot(trx, connectionId, intervalSeconds)) ?? (await addSlot(trx, connectionId, intervalSeconds))
        );
      }),
  };
}

/** Releases the slot of a connection, in the transaction that removes it. */
export async function releaseSlot(trx: Db, connectionId: string): Promise<void> {
  await trx.updateTable('check_slots').set({ connection_id: null }).where('connection_id', '=', connectionId).execute();
}

async function reuseSlot(trx: Db, connectionId: string, intervalSeconds: number): Promise<number | null> {
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

async function addSlot(trx: Db, connectionId: string, intervalSeconds: number): Promise<number> {
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
