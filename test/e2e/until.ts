/** Pause before the second look at a state, in milliseconds: what is there at once costs no wait. */
const FIRST_PAUSE_MS = 100;
/** Longest pause. Each look is a whole request, whose processor time the login that is waited for lacks. */
const LONGEST_PAUSE_MS = 500;
const GROWTH = 1.3;

/**
 * Reads until what was read is as wanted, and answers it; the longer it takes, the more seldom it looks. Past the deadline
 * it throws, with what was read last: the states of tests hold nothing secret.
 */
export async function until<Seen>(
  what: string,
  read: () => Promise<Seen>,
  wanted: (seen: Seen) => boolean,
  withinMs = 120_000,
): Promise<Seen> {
  const deadline = Date.now() + withinMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * GROWTH, LONGEST_PAUSE_MS)) {
    const seen = await read();
    if (wanted(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`${what} did not come within ${withinMs} ms: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
