/** How often it is looked whether the tables want tidying, in milliseconds. */
const LOOK_EVERY_MS = 15_000;
/** Tidied after this time at the latest, in milliseconds, unless nothing happened. */
const TIDY_AFTER_MS = 5 * 60_000;
/** Tidied earlier after so many statements: a plan made without statistics reads whole tables. */
const TIDY_AFTER_STATEMENTS = 5000;

/** Tables that are updated or emptied all the time; each is tidied on its own, so that clients get their turn between. */
const BUSY_TABLES = [
  'connections',
  'connection_states',
  'timeline_events',
  'profiles',
  'credentials',
  'submissions',
  'handoffs',
  'audit_log',
];

/** What {@link keepTidy} needs of the front. */
export interface Tidied {
  /** Runs a statement between those of clients; one that fails (no such table yet) changes nothing. */
  runOwn: (sql: string) => Promise<void>;
  /** How many pieces of work clients have had done so far. */
  served: () => number;
}

/**
 * Does for an embedded database what autovacuum does for a real one: reclaims dead rows, refreshes statistics, shortens
 * the log.
 * @returns stops it.
 */
export function keepTidy({ runOwn, served }: Tidied): () => void {
  let tidiedAt = Date.now();
  let tidiedAfter = 0;
  let busy = false;
  const timer = setInterval(() => {
    const work = served() - tidiedAfter;
    if (busy || work === 0 || (work < TIDY_AFTER_STATEMENTS && Date.now() - tidiedAt < TIDY_AFTER_MS)) return;
    busy = true;
    void tidy(runOwn).finally(() => {
      busy = false;
      tidiedAt = Date.now();
      tidiedAfter = served();
    });
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

async function tidy(runOwn: Tidied['runOwn']): Promise<void> {
  for (const table of BUSY_TABLES) await runOwn(`VACUUM (ANALYZE) ${table}`);
  await runOwn('CHECKPOINT');
}
