import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { ApiDeps, RateLimit } from '../context.ts';
import { countCall } from '../rate-limit.ts';

/** Attempts to sign in: 60 in ten minutes from an address, and 10 in fifteen minutes at one account. */
const BY_ADDRESS: RateLimit = { burst: 60, perSecond: 60 / 600 };
const BY_ACCOUNT: RateLimit = { burst: 10, perSecond: 10 / 900 };

/** Counts attempts to sign in, over all processes, so that nobody can guess. Each throws `rate_limited`. */
export interface SignInLimits {
  countAddress(request: Pick<FastifyRequest, 'ip'>): Promise<void>;
  /** By e-mail address or id, whether or not there is such an account. */
  countAccount(account: string): Promise<void>;
}

/** The limits of an installation. */
export function createSignInLimits({ store }: Pick<ApiDeps, 'store'>): SignInLimits {
  const byAddress = { limit: BY_ADDRESS, ...store.rateLimiter('sign-in-address', BY_ADDRESS) };
  const byAccount = { limit: BY_ACCOUNT, ...store.rateLimiter('sign-in-account', BY_ACCOUNT) };
  return {
    countAddress: ({ ip }) => countCall(byAddress, ip),
    countAccount: (account) => countCall(byAccount, createHash('sha256').update(account).digest('base64url')),
  };
}
