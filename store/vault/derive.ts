import { hkdfSync } from 'node:crypto';
import { KEY_BYTES } from './seal.ts';

/**
 * A 32-byte key for one purpose, derived from the master key (HKDF-SHA-256). Keys of different purposes tell nothing of
 * each other or of the master key.
 */
export function deriveKey(masterKey: Buffer, purpose: string): Buffer {
  if (masterKey.length !== KEY_BYTES) throw new RangeError(`The master key must have ${KEY_BYTES} bytes.`);
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `holdfast/${purpose}`, KEY_BYTES));
}

/** The key of the Temporal payload codec: the same in every worker and client of an installation. */
export function derivePayloadKey(masterKey: Buffer): Buffer {
  return deriveKey(masterKey, 'temporal-payload/1');
}

/** The key that signs tokens of one purpose (`hosted-page`, `browser-session`, …). */
export function deriveSigningKey(masterKey: Buffer, purpose: string): Buffer {
  return deriveKey(masterKey, `signing/${purpose}`);
}
