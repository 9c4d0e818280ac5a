/** How often the tables are tidied, in milliseconds. An embedded database has no autovacuum of its own. */
const TIDY_EVERY_MS = 5 * 60_000;

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

/**
 * Keeps an embedded database small and fast: reclaims dead rows, refreshes statistics, shortens the log.
 * @param runOwn runs a statement between those of clients; a statement that fails (no such table yet) changes nothing.
 * @returns stops it.
 */
export function keepTidy(runOwn: (sql: string) => Promise<void>): () => void {
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    void tidy(runOwn).finally(() => (busy = false));
  }, TIDY_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

async function tidy(runOwn: (sql: string) => Promise<void>): Promise<void> {
  for (const table of BUSY_TABLES) await runOwn(`VACUUM (ANALYZE) ${table}`);
  await runOwn('CHECKPOINT');
}
