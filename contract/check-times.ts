/** Share of the interval that a check may come late, and the smallest distance from a previous check or login. */
export const JITTER = 0.1;

/** Golden ratio: slots at this distance are spread evenly over the interval, however many there are. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** How far from it a step is searched, in both directions. */
const STEPS_TRIED = 40;

/** A slot in the check schedule, among all connections with the same interval. */
export interface CheckSlot {
  slot: number;
  intervalSeconds: number;
}

/** The second assigned to a slot. Of `n` connections at most ⌈n / interval⌉ share one; the first are far apart. */
export function phaseOf(slot: number, intervalSeconds: number): number {
  return (slot * stepOf(intervalSeconds)) % intervalSeconds;
}

/** When a connection is checked next, in epoch ms: at its own second, 0.1 to 1.1 intervals from now. Pure. */
export function nextCheckAtMs(nowMs: number, place: CheckSlot): number {
  const { slot, intervalSeconds } = place;
  return (phaseOf(slot, intervalSeconds) + (checkNumberAt(nowMs, place) + 1) * intervalSeconds) * 1000;
}

/** The number of the check at a time: consecutive however late checks are, and stable across retries. Pure. */
export function checkNumberAt(nowMs: number, { slot, intervalSeconds }: CheckSlot): number {
  return Math.floor((nowMs / 1000 - phaseOf(slot, intervalSeconds)) / intervalSeconds + JITTER);
}

/** Milliseconds until the next check of a connection without a slot: the interval ±10 %. `random` is in [0, 1). */
export function randomDelayMs(intervalSeconds: number, random: number): number {
  return Math.round(intervalSeconds * 1000 * (1 - JITTER + 2 * JITTER * random));
}

/** Steps by interval: each takes hundreds of divisions, and every check needs one. */
const stepsFound = new Map<number, number>();

function stepOf(intervalSeconds: number): number {
  const step = stepsFound.get(intervalSeconds) ?? findStep(intervalSeconds);
  stepsFound.set(intervalSeconds, step);
  return step;
}

/**
 * The step from one slot to the next: coprime to the interval and, of those near its golden section, the one least close to a
 * simple fraction. With a step near 3/5, for example, every fifth slot would be next to another.
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

/** The largest term of the continued fraction of `part / whole`; infinite if they have a common divisor. */
function likenessToFraction(part: number, whole: number): number {
  let largest = 1;
  let [a, b] = [whole, part];
  while (b !== 0) {
    largest = Math.max(largest, Math.floor(a / b));
    [a, b] = [b, a % b];
  }
  return a === 1 ? largest : Number.POSITIVE_INFINITY;
}
