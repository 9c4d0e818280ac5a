/** How fast a pool fills while no caller waits: `percent` of its size per minute. */
interface FillRateSettings {
  size: number;
  percent: number;
}

/** Limits the rate of starts. A minute's worth, at least one, may start at once. */
interface FillRate {
  /** Takes a permit: returns 0, or the wait in milliseconds (Infinity at rate 0). `now` is in epoch ms. */
  take(now: number): number;
  /** Allows another minute's worth at once. */
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
