import { randomBytes } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';

/** What a token gives access to; it is valid for nothing else. */
export type TokenPurpose = 'cdp' | 'bidi' | 'live' | 'replay';

const ISSUER = 'holdfast-browser';
/** How long a URL can be connected to, in seconds. Open connections stay open; reading the session gives a fresh URL. */
const TOKEN_LIFETIME_S = 3600;

/** Signs and verifies the tokens in session URLs. */
export interface SessionTokens {
  /** `subject` is a session id, or a replay id for that purpose. The project is for audit logs. */
  sign(subject: string, purpose: TokenPurpose, project: string): Promise<string>;
  /** True if the token is ours, not expired, and for this subject and purpose. */
  verify(token: string, subject: string, purpose: TokenPurpose): Promise<boolean>;
}

/** By default, the key lives as long as the service, like its sessions. */
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
        return false;
      }
    },
  };
}
