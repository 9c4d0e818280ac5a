/** Draws numbers from a seed: the same page comes out of the same name, on every machine. */
export interface Draw {
  /** A whole number below `end`. */
  below(end: number): number;
  one<T>(of: readonly T[]): T;
  chance(share: number): boolean;
}

/** A small hash of a text (FNV-1a), 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}

/** Draws for one name (mulberry32). */
export function drawFor(name: string): Draw {
  let state = hashOf(name);
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    one: (of) => {
      const drawn = of[below(of.length)];
      if (drawn === undefined) throw new Error('Nothing to draw from');
      return drawn;
    },
    chance: (share) => next() < share,
  };
}
