/** Share of the interval that a check may come late, and that at least lies between whatever told of the session and a check. */
export const JITTER = 0.1;

/** The part of an interval by which neighbouring places lie apart: by the golden ratio any number of them is spread evenly. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** How far from it a step is looked for, either way. */
const STEPS_TRIED = 40;

/** A place in the schedule of checks, among all that are checked at one interval. */
export interface CheckSlot {
  slot: number;
  intervalSeconds: number;
}

/**
 * The second of the interval that belongs to a place. Any so many places in a row as the interval has seconds have each
 * their own, so that of `n` connections at most ⌈n / interval⌉ share one; the first few lie far from each other. Pure.
 */
export function phaseOf(slot: number, intervalSeconds: number): number {
  return (slot * stepOf(intervalSeconds)) % intervalSeconds;
}

/**
 * When the connection of a place is checked next, in milliseconds since the epoch: at the first of its own seconds that
 * leaves a tenth of the interval free, so at most 1.1 intervals from now, and from then on once an interval. Pure.
 */
export function nextCheckAtMs(nowMs: number, place: CheckSlot): number {
  const { slot, intervalSeconds } = place;
  return (phaseOf(slot, intervalSeconds) + (checkNumberAt(nowMs, place) + 1) * intervalSeconds) * 1000;
}

/**
 * The number of the check that is made at a time: one more than that of the check before which {@link nextCheckAtMs} tells
 * it, however late it comes, and the same when it is made again within most of the interval. Pure.
 */
export function checkNumberAt(nowMs: number, { slot, intervalSeconds }: CheckSlot): number {
  return Math.floor((nowMs / 1000 - phaseOf(slot, intervalSeconds)) / intervalSeconds + JITTER);
}

/** Milliseconds until the next check of a connection without a place: the interval, moved by up to ±10 %. `random` is in [0, 1). */
export function randomDelayMs(intervalSeconds: number, random: number): number {
  return Math.round(intervalSeconds * 1000 * (1 - JITTER + 2 * JITTER * random));
}

/** Steps by interval: each takes hundreds of divisions, and a connection asks for its own at every check. */
const stepsFound = new Map<number, number>();

function stepOf(intervalSeconds: number): number {
  const step = stepsFound.get(intervalSeconds) ?? findStep(intervalSeconds);
  stepsFound.set(intervalSeconds, step);
  return step;
}

/**
 * The step from one place to the next: without a common divisor with the interval, and of those near its golden part the
 * one that is least like a fraction of small numbers. By a step near 3/5, say, every fifth place would lie beside another.
 */
function findStep(intervalSeconds: number): number {
  const golden = Math.round(intervalSeconds * GOLDEN);
  let best = { step: 1, likeness: Number.POSITIVE_INFINITY };
  for (let off = 0; off <= STEPS_TRIED; off += 1)
    for (const step of [golden + off, golden - off]) {
      if (step <= 0 || step >= intervalSeconds) continue;
      const likeness = likenessToFraction(step, intervalSeconds);
      if (likeness < best.likeness) best = { step, likeness };
    }
  return best.step;
}

/** The largest term of the continued fraction of `part / whole`; infinite when the two have a common divisor. */
function likenessToFraction(part: number, whole: number): number {
  let largest = 1;
  let [a, b] = [whole, part];
  while (b !== 0) {
    largest = Math.max(largest, Math.floor(a / b));
    [a, b] = [b, a % b];
  }
  return a === 1 ? largest : Number.POSITIVE_INFINITY;
}
