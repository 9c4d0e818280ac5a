/** How often a state is looked at, in milliseconds. */
const LOOK_EVERY_MS = 100;

/**
 * Reads until what was read is as wanted, and answers it. Past the deadline it throws, with what was read last: the
 * states of tests hold nothing secret.
 */
export async function until<Seen>(
  what: string,
  read: () => Promise<Seen>,
  wanted: (seen: Seen) => boolean,
  withinMs = 120_000,
): Promise<Seen> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const seen = await read();
    if (wanted(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`${what} did not come within ${withinMs} ms: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
