import { generateKeyPairSync } from 'node:crypto';
import type { Passkey } from '../../contract/passkeys.ts';

/** A passkey with a new key. */
export function newPasskey(name: string, more: Partial<Passkey> = {}): Passkey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    rp_id: 'shop.example',
    credential_id: Buffer.from(name).toString('base64url'),
    user_handle: Buffer.from(`user of ${name}`).toString('base64url'),
    private_key: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url'),
    sign_count: 0,
    ...more,
  };
}

/** A passkey with the curve that some sites prefer. */
export function newEd25519Passkey(name: string): Passkey {
  const { privateKey } = generateKeyPairSync('ed25519');
  return newPasskey(name, {
    private_key: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url'),
  });
}
