import { createECDH, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { SIGNING_KEY_AGE_MS } from '../../contract/oauth.ts';
import type { ApiDeps } from '../context.ts';

/** The algorithm of access tokens. */
export const SIGNING_ALG = 'ES256';
/** How long a process remembers the keys, in milliseconds; it looks again at once for a key that it does not know. */
const REMEMBERED_MS = 60_000;

/** A private key of P-256 that signs access tokens; `kid` is its thumbprint. */
export type SigningKey = JWK & { kid: string };

/** The keys that sign access tokens: all processes of an installation have the same. */
export interface SigningKeys {
  /** The key in use, then the one before it. Renews the one in use when it is a month old. */
  current(): Promise<readonly SigningKey[]>;
  /** The key of that id; null when there is none. */
  find(kid: string): Promise<SigningKey | null>;
}

/** Keys that lie in the store, wrapped by the master key. */
export function createSigningKeys({ store, clock }: Pick<ApiDeps, 'store' | 'clock'>): SigningKeys {
  let remembered: { keys: readonly SigningKey[]; until: number } | null = null;

  const read = async (): Promise<readonly SigningKey[]> => {
    const now = clock().getTime();
    await store.installationKeys.ensure('oauth-tokens', randomBytes(32));
    await store.installationKeys.rotateOlder('oauth-tokens', new Date(now - SIGNING_KEY_AGE_MS));
    const secrets = await store.installationKeys.all('oauth-tokens');
    const keys = await Promise.all(secrets.map(signingKeyOf));
    remembered = { keys, until: now + REMEMBERED_MS };
    return keys;
  };
  const current = async () => (remembered !== null && clock().getTime() < remembered.until ? remembered.keys : read());
  const among = (keys: readonly SigningKey[], kid: string) => keys.find((key) => key.kid === kid);
  return {
    current,
    find: async (kid) => among(await current(), kid) ?? among(await read(), kid) ?? null,
  };
}

/** The key whose private number is `secret`: 32 random bytes, below the order of the curve but for one in 2^32. */
async function signingKeyOf(secret: Buffer): Promise<SigningKey> {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(secret);
  const point = pair.getPublicKey();
  const publicKey = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const kid = await calculateJwkThumbprint(publicKey);
  return { ...publicKey, d: secret.toString('base64url'), use: 'sig', alg: SIGNING_ALG, kid };
}
