import proxyAddress from '@fastify/proxy-addr';
import type { FastifyReply } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { HoldfastError } from '../contract/errors.ts';
import { consumeFrom, type SharedRateLimiter } from '../store/rate-limiter.ts';
import type { ApiSettings, RateLimit } from './context.ts';

/** Counts calls by key against a limit. */
export interface RateLimiter {
  limit: RateLimit;
  take: SharedRateLimiter['take'];
}

/**
 * Limits calls by address, before authentication, in this process only, so that a flood never reaches the database. Calls by
 * credential are counted across processes, by the store.
 */
export function createAddressLimiter(limit: RateLimit): RateLimiter {
  const limiter = new RateLimiterMemory({ points: limit.burst, duration: limit.burst / limit.perSecond });
  return { limit, take: consumeFrom(limiter) };
}

/** Counts a call and sets the rate limit headers. Throws `rate_limited` with the seconds to wait. */
export async function countCall({ limit, take }: RateLimiter, key: string, reply?: FastifyReply): Promise<void> {
  const { remaining, retryAfterSeconds } = await take(key);
  void reply?.headers({ 'x-ratelimit-limit': String(limit.burst), 'x-ratelimit-remaining': String(remaining) });
  if (retryAfterSeconds === 0) return;
  throw new HoldfastError('rate_limited', `Too many requests; retry after ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });
}

/** Resolves a client address where Fastify does not: for upgrades, and for requests that fail before routing. */
export function createClientAddress({ trustProxy = false }: ApiSettings): (request: IncomingMessage) => string {
  const isTrusted =
    typeof trustProxy === 'boolean'
      ? () => trustProxy
      : proxyAddress.compile(trustProxy.split(',').map((range) => range.trim()));
  return (request) => proxyAddress(request, isTrusted);
}
