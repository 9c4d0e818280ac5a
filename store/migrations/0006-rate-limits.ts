import { sql, type Migration } from 'kysely';

/**
 * Counts calls over all API processes, and finds timeline events by age. Counts are worth nothing after a crash, so their
 * table is written without a log.
 */
export const rateLimits: Migration = {
  up: async (db) => {
    await sql`create unlogged table rate_limits (
      key varchar(255) primary key,
      points integer not null default 0,
      expire bigint
    ) with (fillfactor = 70)`.execute(db);
    await sql`create index timeline_events_age on timeline_events (at)`.execute(db);
  },
};
