import { hkdfSync } from 'node:crypto';
import { KEY_BYTES } from './seal.ts';

/**
 * A 32-byte key for one purpose, derived from the master key (HKDF-SHA-256). Keys of different purposes tell nothing of
 * each other or of the master key.
 */
export function deriveKey(masterKey: Buffer, purpose: string): Buffer {
  if (masterKey.length !== KEY_BYTES) throw new RangeError(`The master key must have ${KEY_BYTES} bytes`);
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `holdfast/${purpose}`, KEY_BYTES));
}
