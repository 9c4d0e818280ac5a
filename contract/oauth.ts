import { z } from 'zod';

/** What a program may do for a person: only read, or everything except administration. */
export const OAuthAccess = z.enum(['read', 'all']);
export type OAuthAccess = z.infer<typeof OAuthAccess>;

/** Scopes of access tokens: `read` and `write` together are {@link OAuthAccess} `all`. */
export const OAUTH_SCOPES = ['read', 'write'] as const;

/** Lifetime of an access token and of a code, in seconds. */
export const ACCESS_TOKEN_SECONDS = 5 * 60;
export const CODE_SECONDS = 60;
/** How long a person may take on the consent page, in seconds. */
export const CONSENT_SECONDS = 30 * 60;
/** Lifetime of an unused refresh token, and of a grant, in seconds. */
export const REFRESH_TOKEN_SECONDS = 30 * 24 * 60 * 60;
export const GRANT_SECONDS = 365 * 24 * 60 * 60;
/** Lifetime of a self-registered client, in seconds; each grant restarts it. */
export const CLIENT_SECONDS = GRANT_SECONDS;
/** Maximum age of the key that signs access tokens, in milliseconds. The previous one stays valid as long. */
export const SIGNING_KEY_AGE_MS = 30 * 24 * 60 * 60_000;

/** A program that a person has authorized. */
export const OAuthGrant = z.strictObject({
  id: z.string(),
  client: z.strictObject({ id: z.string(), name: z.string() }),
  user: z.strictObject({ id: z.string(), email: z.string() }),
  access: OAuthAccess,
  project_id: z.string().nullable().describe('The only project it can access; null: all'),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
  expires_at: z.iso.datetime(),
});
