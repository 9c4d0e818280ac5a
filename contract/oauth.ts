import { z } from 'zod';

/** What a program may do for a person: read alone, or all that the person may but administer. */
export const OAuthAccess = z.enum(['read', 'all']);
export type OAuthAccess = z.infer<typeof OAuthAccess>;

/** Scopes of access tokens: `write` beside `read` is {@link OAuthAccess} `all`. */
export const OAUTH_SCOPES = ['read', 'write'] as const;

/** How long an access token and a code are good for, in seconds. */
export const ACCESS_TOKEN_SECONDS = 5 * 60;
export const CODE_SECONDS = 60;
/** How long a person may take to answer the consent page, in seconds. */
export const CONSENT_SECONDS = 30 * 60;
/** How long a refresh token that nobody uses is good for, and a grant in all, in seconds. */
export const REFRESH_TOKEN_SECONDS = 30 * 24 * 60 * 60;
export const GRANT_SECONDS = 365 * 24 * 60 * 60;
/** How long a client that registered itself is known, in seconds; each grant begins it anew. */
export const CLIENT_SECONDS = GRANT_SECONDS;
/** How old the key that signs access tokens gets, in milliseconds. Its former one stays known as long. */
export const SIGNING_KEY_AGE_MS = 30 * 24 * 60 * 60_000;

/** A program that a person has let in. */
export const OAuthGrant = z.strictObject({
  id: z.string(),
  client: z.strictObject({ id: z.string(), name: z.string() }),
  user: z.strictObject({ id: z.string(), email: z.string() }),
  access: OAuthAccess,
  project_id: z.string().nullable().describe('The one project that it reaches; null: all'),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
  expires_at: z.iso.datetime(),
});
