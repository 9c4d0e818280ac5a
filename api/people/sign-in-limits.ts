import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { ApiDeps, RateLimit } from '../context.ts';
import { countCall } from '../rate-limit.ts';

/** Sign-in attempts: 60 per ten minutes from an IP address, and 10 per 15 minutes for an account. */
const BY_ADDRESS: RateLimit = { burst: 60, perSecond: 60 / 600 };
const BY_ACCOUNT: RateLimit = { burst: 10, perSecond: 10 / 900 };

/** Limits sign-in attempts across all processes, against guessing. Both throw `rate_limited`. */
export interface SignInLimits {
  countAddress(request: Pick<FastifyRequest, 'ip'>): Promise<void>;
  /** By email address or id, whether or not the account exists. */
  countAccount(account: string): Promise<void>;
}

/** Creates the limits of an installation. */
export function createSignInLimits({ store }: Pick<ApiDeps, 'store'>): SignInLimits {
  const byAddress = { limit: BY_ADDRESS, ...store.rateLimiter('sign-in-address', BY_ADDRESS) };
  const byAccount = { limit: BY_ACCOUNT, ...store.rateLimiter('sign-in-account', BY_ACCOUNT) };
  return {
    countAddress: ({ ip }) => countCall(byAddress, ip),
    countAccount: (account) => countCall(byAccount, createHash('sha256').update(account).digest('base64url')),
  };
}
