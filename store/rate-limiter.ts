import type pg from 'pg';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';

/** The limit on calls per key. */
export interface SharedRateLimit {
  /** Maximum calls in one window. */
  burst: number;
  /** Sustained calls per second: a window lasts `burst / perSecond` seconds. */
  perSecond: number;
}

/** Counts calls per key, across all processes on one database. */
export interface SharedRateLimiter {
  /**
   * Counts one call of `key` (at most 200 characters). Never rejects: while the database is unreachable, each process
   * counts for itself.
   */
  take(key: string): Promise<RateLimitState>;
}

/** The calls left in this window. `retryAfterSeconds` is 0 if the call is allowed, else the whole seconds to wait. */
interface RateLimitState {
  remaining: number;
  retryAfterSeconds: number;
}

/**
 * A limiter over the table `rate_limits`. Limiters with different `name`s do not share counts. A key over its limit is
 * rejected from memory until the window ends, so that a flood does not reach the database.
 */
export function createSharedRateLimiter(pool: pg.Pool, name: string, limit: SharedRateLimit): SharedRateLimiter {
  const window = { keyPrefix: name, points: limit.burst, duration: limit.burst / limit.perSecond };
  const limiter = new RateLimiterPostgres({
    ...window,
    storeClient: pool,
    storeType: 'client',
    tableName: 'rate_limits',
    // A migration creates the table, and the sweep deletes expired rows.
    tableCreated: true,
    clearExpiredByTimeout: false,
    inMemoryBlockOnConsumed: limit.burst + 1,
    insuranceLimiter: new RateLimiterMemory(window),
  });
  return { take: consumeFrom(limiter) };
}

/** Counts calls with a limiter of the library, turning its rejections into states. Rejects if the limiter itself fails. */
export function consumeFrom(limiter: RateLimiterAbstract): (key: string) => Promise<RateLimitState> {
  return async (key) => {
    try {
      return { remaining: (await limiter.consume(key)).remainingPoints, retryAfterSeconds: 0 };
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return { remaining: 0, retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)) };
    }
  };
}
