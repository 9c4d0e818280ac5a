/** Share by which a health check's time is moved at random, so that checks of many connections spread. */
export const JITTER = 0.1;

/** Milliseconds until the next health check: the interval, moved by up to ±10 %. `random` is in [0, 1). */
export function nextCheckDelayMs(intervalSeconds: number, random: number): number {
  return Math.round(intervalSeconds * 1000 * (1 - JITTER + 2 * JITTER * random));
}

/** Milliseconds before the next look at a page that waits for something outside: prompt at first, then ever less often. */
export function nextLookDelayMs(looks: number): number {
  return Math.min(8000, Math.round(1000 * 1.25 ** Math.max(0, looks - 10)));
}
