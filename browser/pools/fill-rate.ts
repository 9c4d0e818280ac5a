/** How fast a pool is filled with nobody waiting: `percent` of its size in a minute. */
interface FillRateSettings {
  size: number;
  percent: number;
}

/** Allows starts at a rate: a minute's worth at once, at least one, and then one after the other. */
interface FillRate {
  /** Takes a start: 0 when it may be now (`now`: milliseconds since 1970), else in how many milliseconds; endless at no rate. */
  take(now: number): number;
  /** A minute's worth may be started at once again. */
  refill(): void;
  set(settings: FillRateSettings): void;
}

export function createFillRate(initial: FillRateSettings): FillRate {
  let settings = initial;
  const burst = (): number => (settings.percent === 0 ? 0 : Math.max(1, (settings.size * settings.percent) / 100));
  const perMillisecond = (): number => (settings.size * settings.percent) / 100 / 60_000;
  let allowed = burst();
  let countedAt = Date.now();
  return {
    take: (now) => {
      allowed = Math.min(burst(), allowed + Math.max(0, now - countedAt) * perMillisecond());
      countedAt = now;
      if (allowed < 1) return (1 - allowed) / perMillisecond();
      allowed -= 1;
      return 0;
    },
    refill: () => {
      allowed = burst();
    },
    set: (changed) => {
      settings = changed;
      allowed = burst();
    },
  };
}
