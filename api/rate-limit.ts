import { HoldfastError } from '../contract/errors.ts';
import type { RateLimit } from './context.ts';

/** Most buckets that are kept; beyond it the ones untouched for longest go first (they are full again by then). */
const MAX_BUCKETS = 50_000;

interface Bucket {
  tokens: number;
  at: number;
}

/** Token buckets by key. `take` throws `rate_limited` with the whole seconds to wait when a bucket is empty. */
export interface RateLimiter {
  take(key: string): void;
}

/** Buckets live in this process: with several API processes each allows its share. */
export function createRateLimiter(limit: RateLimit, clock: () => Date): RateLimiter {
  const buckets = new Map<string, Bucket>();

  function refilled(key: string, now: number): Bucket {
    const bucket = buckets.get(key);
    if (bucket === undefined) return { tokens: limit.burst, at: now };
    const gained = (Math.max(0, now - bucket.at) / 1000) * limit.perSecond;
    return { tokens: Math.min(limit.burst, bucket.tokens + gained), at: now };
  }

  return {
    take(key) {
      const bucket = refilled(key, clock().getTime());
      const allowed = bucket.tokens >= 1;
      if (allowed) bucket.tokens -= 1;
      // Deleting first moves the key to the end: a Map keeps the order of insertion.
      buckets.delete(key);
      buckets.set(key, bucket);
      if (buckets.size > MAX_BUCKETS) {
        const oldest = buckets.keys().next().value;
        if (oldest !== undefined) buckets.delete(oldest);
      }
      if (allowed) return;
      const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / limit.perSecond));
      throw new HoldfastError('rate_limited', `too many requests; wait ${retryAfterSeconds} s`, { retryAfterSeconds });
    },
  };
}
