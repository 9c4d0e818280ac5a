import type { FastifyReply } from 'fastify';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { HoldfastError } from '../contract/errors.ts';
import { consumeFrom, type SharedRateLimiter } from '../store/rate-limiter.ts';
import type { RateLimit } from './context.ts';

/** Calls by key, and how many of them one window takes. */
export interface RateLimiter {
  limit: RateLimit;
  take: SharedRateLimiter['take'];
}

/**
 * Counts calls from an address, before authentication: in this process alone, so that a flood costs the database nothing.
 * Calls of credentials are counted over all processes, by the store.
 */
export function createAddressLimiter(limit: RateLimit): RateLimiter {
  const limiter = new RateLimiterMemory({ points: limit.burst, duration: limit.burst / limit.perSecond });
  return { limit, take: consumeFrom(limiter) };
}

/** Counts a call and tells the caller what it has left. Throws `rate_limited` with the whole seconds to wait. */
export async function countCall({ limit, take }: RateLimiter, key: string, reply?: FastifyReply): Promise<void> {
  const { remaining, retryAfterSeconds } = await take(key);
  void reply?.headers({ 'x-ratelimit-limit': String(limit.burst), 'x-ratelimit-remaining': String(remaining) });
  if (retryAfterSeconds === 0) return;
  throw new HoldfastError('rate_limited', `Too many requests; retry after ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });
}
