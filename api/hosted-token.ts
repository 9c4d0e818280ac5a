import { hkdfSync } from 'node:crypto';
import { SignJWT, jwtVerify } from 'jose';
import { z } from 'zod';
import { HOSTED_TOKEN_LIFETIME_S } from '../contract/limits.ts';

/** What relays of the interface know our tokens by. */
const ISSUER = 'kernel-api';
/** Issuer of tokens that an older version made; they are good until they expire. */
const FORMER_ISSUER = 'holdfast';
const AUDIENCE = 'holdfast:hosted-page';
const ALGORITHM = 'HS256';

const Claims = z.object({ sub: z.string().min(1), flow: z.string().min(1), exp: z.number() });

/** What a token of the hosted page is good for. */
export interface HostedGrant {
  connectionId: string;
  flowId: string;
}

/** Makes and reads the tokens of the hosted page: 30 minutes, one connection, one flow. */
export interface HostedTokens {
  mint(grant: HostedGrant): Promise<string>;
  /** Null for anything that is not a token of ours that is still good. `expiresAt` in milliseconds since 1970. */
  verify(token: string): Promise<(HostedGrant & { expiresAt: number }) | null>;
}

/** @param signingKey the API's signing key; the key of tokens is derived from it. */
export function createHostedTokens(signingKey: Uint8Array, clock: () => Date): HostedTokens {
  const key = new Uint8Array(hkdfSync('sha256', signingKey, '', 'hosted page token', 32));
  return {
    async mint({ connectionId, flowId }) {
      const now = Math.floor(clock().getTime() / 1000);
      return new SignJWT({ flow: flowId, managed_auth_session_id: connectionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(connectionId)
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setIssuedAt(now)
        .setExpirationTime(now + HOSTED_TOKEN_LIFETIME_S)
        .sign(key);
    },
    async verify(token) {
      if (!looksLikeToken(token)) return null;
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [ALGORITHM],
          issuer: [ISSUER, FORMER_ISSUER],
          audience: AUDIENCE,
          requiredClaims: ['exp', 'iat', 'sub'],
          currentDate: clock(),
        });
        const claims = Claims.safeParse(payload);
        if (!claims.success) return null;
        const { sub, flow, exp } = claims.data;
        return { connectionId: sub, flowId: flow, expiresAt: exp * 1000 };
      } catch {
        // Whatever is wrong with it, the caller learns only that it is not good.
        return null;
      }
    },
  };
}

function looksLikeToken(token: string): boolean {
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}
