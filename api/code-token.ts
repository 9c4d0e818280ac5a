import { hkdfSync } from 'node:crypto';
import { SignJWT, jwtVerify } from 'jose';

const ISSUER = 'holdfast';
const AUDIENCE = 'holdfast:codes';
const ALGORITHM = 'HS256';

/** Makes and reads tokens that may give codes to one connection, and nothing else. */
export interface CodeTokens {
  mint(connectionId: string, expiresAt: Date): Promise<string>;
  /** The connection that a token is for; null for anything that is not a token of ours that is still good. */
  verify(token: string): Promise<string | null>;
}

/** @param signingKey the API's signing key; the key of tokens is derived from it. */
export function createCodeTokens(signingKey: Uint8Array, clock: () => Date): CodeTokens {
  const key = new Uint8Array(hkdfSync('sha256', signingKey, '', 'code token', 32));
  return {
    mint: (connectionId, expiresAt) =>
      new SignJWT()
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(connectionId)
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setExpirationTime(expiresAt)
        .sign(key),
    verify: async (token) => {
      // What is no JWT at all need not be checked for one: most bearers are API keys.
      if (!token.startsWith('eyJ')) return null;
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          audience: AUDIENCE,
          requiredClaims: ['exp', 'sub'],
          currentDate: clock(),
        });
        return payload.sub ?? null;
      } catch {
        // Whatever is wrong with it, the caller learns only that it is not good.
        return null;
      }
    },
  };
}
