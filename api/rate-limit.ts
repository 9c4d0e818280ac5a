import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import { HoldfastError } from '../contract/errors.ts';
import type { RateLimit } from './context.ts';

/** Most buckets that are kept; beyond it the ones untouched for longest go first (they are full again by then). */
const MAX_BUCKETS = 50_000;

/** Token buckets by key. `take` throws `rate_limited` with the whole seconds to wait when a bucket is empty. */
export interface RateLimiter {
  take(key: string): void;
}

/** Buckets live in this process: with several API processes each allows its share. */
export function createRateLimiter(limit: RateLimit): RateLimiter {
  const buckets = new LRUCache<string, TokenBucket>({ max: MAX_BUCKETS });

  function bucketOf(key: string): TokenBucket {
    const known = buckets.get(key);
    if (known !== undefined) return known;
    const bucket = new TokenBucket({ bucketSize: limit.burst, tokensPerInterval: limit.perSecond, interval: 'second' });
    // The library's buckets start empty; a new caller may use its burst at once.
    bucket.content = limit.burst;
    buckets.set(key, bucket);
    return bucket;
  }

  return {
    take(key) {
      const bucket = bucketOf(key);
      if (bucket.tryRemoveTokens(1)) return;
      const retryAfterSeconds = Math.max(1, Math.ceil(bucket.getWaitTime(1) / 1000));
      throw new HoldfastError('rate_limited', `too many requests; wait ${retryAfterSeconds} s`, { retryAfterSeconds });
    },
  };
}
