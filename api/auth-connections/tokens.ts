import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { jwtVerify, SignJWT, type JWTPayload, type JWTVerifyOptions } from 'jose';
import { z } from 'zod';
import { HANDOFF_LIFETIME_MS, HOSTED_TOKEN_LIFETIME_S } from '../../contract/limits.ts';

/** Issuer that relays of the interface expect in hosted page tokens. */
const HOSTED_ISSUER = 'kernel-api';
/** Issuer of code tokens, and of hosted page tokens minted by older versions, which stay valid until they expire. */
const ISSUER = 'holdfast';
const ALGORITHM = 'HS256';

const NONCE_BYTES = 32;
const EXPIRY_BYTES = 6;
const MAC_BYTES = 32;

/** Result of reading a handoff code. `hash` and `expiresAt` identify it when its single use is recorded. */
export type HandoffReading =
  | { outcome: 'valid'; hash: Buffer; expiresAt: Date }
  | { outcome: 'expired' }
  | { outcome: 'unknown' };

/**
 * Codes that take a person from a link to the hosted page. Minting writes nothing (every read of a connection shows a
 * `hosted_url`); the MAC binds a code to its flow. A code can be exchanged once: the exchange records its hash.
 */
export interface HandoffCodes {
  mint(connectionId: string, flowId: string): string;
  read(code: string, connectionId: string, flowId: string): HandoffReading;
}

/** Creates handoff codes whose key is derived from the API's signing key. */
export function createHandoffCodes(signingKey: Uint8Array, clock: () => Date): HandoffCodes {
  const key = deriveKey(signingKey, 'handoff code');

  function mac(head: Buffer, connectionId: string, flowId: string): Buffer {
    return createHmac('sha256', key).update(`${connectionId}|${flowId}|`).update(head).digest();
  }

  return {
    mint(connectionId, flowId) {
      const expiry = Buffer.alloc(EXPIRY_BYTES);
      expiry.writeUIntBE(clock().getTime() + HANDOFF_LIFETIME_MS, 0, EXPIRY_BYTES);
      const head = Buffer.concat([randomBytes(NONCE_BYTES), expiry]);
      return Buffer.concat([head, mac(head, connectionId, flowId)]).toString('base64url');
    },
    read(code, connectionId, flowId) {
      const bytes = Buffer.from(code, 'base64url');
      // Accept the canonical encoding only, so that a code has one hash.
      if (bytes.length !== NONCE_BYTES + EXPIRY_BYTES + MAC_BYTES || bytes.toString('base64url') !== code) {
        return { outcome: 'unknown' };
      }
      const head = bytes.subarray(0, NONCE_BYTES + EXPIRY_BYTES);
      const given = bytes.subarray(NONCE_BYTES + EXPIRY_BYTES);
      if (!timingSafeEqual(given, mac(head, connectionId, flowId))) return { outcome: 'unknown' };
      const expiresAt = new Date(head.readUIntBE(NONCE_BYTES, EXPIRY_BYTES));
      if (clock().getTime() >= expiresAt.getTime()) return { outcome: 'expired' };
      return { outcome: 'valid', hash: createHash('sha256').update(bytes).digest(), expiresAt };
    },
  };
}

const HostedClaims = z.object({ sub: z.string().min(1), flow: z.string().min(1), exp: z.number() });

/** The flow that a hosted page token grants access to. */
export interface HostedGrant {
  connectionId: string;
  flowId: string;
}

/** Tokens of the hosted page: valid for 30 minutes, for one flow of one connection. */
export interface HostedTokens {
  mint(grant: HostedGrant): Promise<string>;
  /** Null unless the token is valid. `expiresAt` in epoch ms. */
  verify(token: string): Promise<(HostedGrant & { expiresAt: number }) | null>;
}

/** Creates hosted page tokens whose key is derived from the API's signing key. */
export function createHostedTokens(signingKey: Uint8Array, clock: () => Date): HostedTokens {
  const key = deriveKey(signingKey, 'hosted page token');
  const audience = 'holdfast:hosted-page';
  return {
    async mint({ connectionId, flowId }) {
      const now = Math.floor(clock().getTime() / 1000);
      return new SignJWT({ flow: flowId, managed_auth_session_id: connectionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(connectionId)
        .setIssuer(HOSTED_ISSUER)
        .setAudience(audience)
        .setIssuedAt(now)
        .setExpirationTime(now + HOSTED_TOKEN_LIFETIME_S)
        .sign(key);
    },
    async verify(token) {
      const payload = await verifyJwt(token, key, {
        issuer: [HOSTED_ISSUER, ISSUER],
        audience,
        requiredClaims: ['exp', 'iat', 'sub'],
        currentDate: clock(),
      });
      const claims = HostedClaims.safeParse(payload);
      if (!claims.success) return null;
      const { sub, flow, exp } = claims.data;
      return { connectionId: sub, flowId: flow, expiresAt: exp * 1000 };
    },
  };
}

/** Tokens that may only send codes to one connection. */
export interface CodeTokens {
  mint(connectionId: string, expiresAt: Date): Promise<string>;
  /** The id of the connection; null unless the token is valid. */
  verify(token: string): Promise<string | null>;
}

/** Creates code tokens whose key is derived from the API's signing key. */
export function createCodeTokens(signingKey: Uint8Array, clock: () => Date): CodeTokens {
  const key = deriveKey(signingKey, 'code token');
  const audience = 'holdfast:codes';
  return {
    mint: (connectionId, expiresAt) =>
      new SignJWT()
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(connectionId)
        .setIssuer(ISSUER)
        .setAudience(audience)
        .setExpirationTime(expiresAt)
        .sign(key),
    verify: async (token) => {
      const requiredClaims = ['exp', 'sub'];
      const payload = await verifyJwt(token, key, { issuer: ISSUER, audience, requiredClaims, currentDate: clock() });
      return payload?.sub ?? null;
    },
  };
}

function deriveKey(signingKey: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', signingKey, '', purpose, 32));
}

/** The claims of a valid token; null otherwise, whatever the reason. */
async function verifyJwt(token: string, key: Uint8Array, options: JWTVerifyOptions): Promise<JWTPayload | null> {
  // Most bearer tokens are API keys: skip what cannot be a JWT.
  if (!token.startsWith('eyJ')) return null;
  try {
    return (await jwtVerify(token, key, { ...options, algorithms: [ALGORITHM] })).payload;
  } catch {
    return null;
  }
}
