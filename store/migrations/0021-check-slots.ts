import { sql, type Migration } from 'kysely';

/**
 * The places that connections have in the schedule of health checks, by interval. One that nobody holds any more stays, to
 * be given to the next. The reference to a connection is no foreign key: a removed connection leaves a tombstone.
 */
export const checkSlots: Migration = {
  up: async (db) => {
    await sql`
      create table check_slots (
        interval_seconds integer not null,
        slot integer not null,
        connection_id text unique,
        primary key (interval_seconds, slot)
      )`.execute(db);
    await sql`
      create index check_slots_free on check_slots (interval_seconds, slot) where connection_id is null`.execute(db);
  },
};
