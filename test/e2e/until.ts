/** Delay before the second read, in milliseconds. */
const MIN_DELAY_MS = 100;
/** Each read is a whole request, which takes processor time from the login under test. */
const MAX_DELAY_MS = 500;
const GROWTH = 1.3;

/**
 * Reads, with growing delays, until `matches` holds. Rejects after the timeout with what was read last: the states of tests
 * contain no secrets.
 */
export async function until<Seen>(
  what: string,
  read: () => Promise<Seen>,
  matches: (seen: Seen) => boolean,
  withinMs = 120_000,
): Promise<Seen> {
  const deadline = Date.now() + withinMs;
  for (let delay = MIN_DELAY_MS; ; delay = Math.min(delay * GROWTH, MAX_DELAY_MS)) {
    const seen = await read();
    if (matches(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`Timed out after ${withinMs} ms: ${what}: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
}

/** Polls until `find` returns something other than null. Rejects after `withinMs`. */
export async function waitFor<Found>(
  find: () => Promise<Found | null>,
  withinMs: number,
  what: string,
  everyMs = 100,
): Promise<Found> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await find();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`Timed out after ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
