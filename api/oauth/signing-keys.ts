import { createECDH, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { SIGNING_KEY_AGE_MS } from '../../contract/oauth.ts';
import type { ApiDeps } from '../context.ts';

/** Algorithm of access tokens. */
export const SIGNING_ALG = 'ES256';
/** How long keys are cached per process, in milliseconds; an unknown key id refreshes the cache at once. */
const REMEMBERED_MS = 60_000;

/** A P-256 private key that signs access tokens; `kid` is its thumbprint. */
export type SigningKey = JWK & { kid: string };

/** Signing keys of access tokens, shared by all processes. */
export interface SigningKeys {
  /** The current key, then the previous one. Rotates the current one when it is a month old. */
  current(): Promise<readonly SigningKey[]>;
  /** The key with this id, or null. */
  find(kid: string): Promise<SigningKey | null>;
}

/** Keys from the store, encrypted with the master key. */
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
  return { current, find: async (kid) => among(await current(), kid) ?? among(await read(), kid) ?? null };
}

/** The key with private scalar `secret`: 32 random bytes, below the curve's order except for one in 2^32. */
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
