import type pg from 'pg';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';

/** How many calls of one key are allowed. */
export interface SharedRateLimit {
  /** Most calls in one window. */
  burst: number;
  /** Calls a second over time: a window lasts `burst / perSecond` seconds. */
  perSecond: number;
}

/** Counts calls by key, over all processes on one database. */
export interface SharedRateLimiter {
  /**
   * Counts one call of `key`. Never rejects: while the database is away each process counts by itself. Keys have 200
   * characters at most.
   */
  take(key: string): Promise<RateLimitState>;
}

/** What a key has left in this window; `retryAfterSeconds` is 0 when the call is allowed, else the whole seconds to wait. */
export interface RateLimitState {
  remaining: number;
  retryAfterSeconds: number;
}

/**
 * A limiter over the table `rate_limits`. Limiters of different `name`s do not share counts. A key that has used up its
 * window is refused from memory until the window ends, so that a flood costs the database nothing.
 */
export function createSharedRateLimiter(pool: pg.Pool, name: string, limit: SharedRateLimit): SharedRateLimiter {
  const window = { keyPrefix: name, points: limit.burst, duration: limit.burst / limit.perSecond };
  const limiter = new RateLimiterPostgres({
    ...window,
    storeClient: pool,
    storeType: 'client',
    tableName: 'rate_limits',
    // By a migration; and expired rows go with the sweep.
    tableCreated: true,
    clearExpiredByTimeout: false,
    inMemoryBlockOnConsumed: limit.burst + 1,
    insuranceLimiter: new RateLimiterMemory(window),
  });
  return { take: takeFrom(limiter) };
}

/** Counts calls by a limiter of the library, whose refusals become states. Rejects when the limiter itself fails. */
export function takeFrom(limiter: RateLimiterAbstract): (key: string) => Promise<RateLimitState> {
  return async (key) => {
    try {
      return { remaining: (await limiter.consume(key)).remainingPoints, retryAfterSeconds: 0 };
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return { remaining: 0, retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)) };
    }
  };
}
