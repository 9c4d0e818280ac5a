import { randomBytes } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';

/** What a token opens. A token for one is refused by the others. */
export type TokenPurpose = 'cdp' | 'bidi' | 'live' | 'replay';

const ISSUER = 'holdfast-browser';
/**
 * How long a URL that was handed out can be connected to, in seconds. A connection that stands is not cut; reading the
 * session again gives a fresh URL.
 */
export const TOKEN_LIFETIME_S = 3600;

/** Makes and checks the tokens in the URLs of sessions. */
export interface SessionTokens {
  /** `subject` is the session's id; a replay's for that purpose. Its project is for the audit log of who passes the URL on. */
  sign(subject: string, purpose: TokenPurpose, project: string): Promise<string>;
  /** True when the token is ours, not expired, and made for this subject and purpose. */
  verify(token: string, subject: string, purpose: TokenPurpose): Promise<boolean>;
}

/** The key lives and dies with the service, as its sessions do. */
export function createSessionTokens(key: Uint8Array = randomBytes(32)): SessionTokens {
  return {
    sign: (subject, purpose, project) =>
      new SignJWT({ project })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(ISSUER)
        .setAudience(purpose)
        .setSubject(subject)
        .setIssuedAt()
        .setExpirationTime(`${String(TOKEN_LIFETIME_S)}s`)
        .sign(key),
    verify: async (token, subject, purpose) => {
      try {
        await jwtVerify(token, key, { algorithms: ['HS256'], issuer: ISSUER, audience: purpose, subject });
        return true;
      } catch {
        // Wrong, expired, or for something else: one answer for all.
        return false;
      }
    },
  };
}
