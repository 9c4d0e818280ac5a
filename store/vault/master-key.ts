import { hkdfSync } from 'node:crypto';
import { KEY_BYTES, seal, unseal, type SealedPlace } from './seal.ts';

/**
 * A 32-byte key for one purpose, derived from the master key (HKDF-SHA-256). It reveals nothing about the master key or keys
 * for other purposes.
 */
export function deriveKey(masterKey: Buffer, purpose: string): Buffer {
  if (masterKey.length !== KEY_BYTES) throw new RangeError(`The master key must have ${KEY_BYTES} bytes`);
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `holdfast/${purpose}`, KEY_BYTES));
}

/** Wraps data keys: the local master key, or a key that never leaves a KMS. */
export interface KeyWrapper {
  /** Id of the wrapping key, stored with the wrapped key. */
  readonly keyId: string;
  wrap(dataKey: Buffer, place: SealedPlace): Promise<Buffer>;
  /** Throws if the wrapped key was changed or moved, or was wrapped by another key. */
  unwrap(wrapped: Buffer, place: SealedPlace): Promise<Buffer>;
}

/** A wrapper with the master key in memory. It wraps with a derived key, never with the master key itself. */
export function createLocalKeyWrapper(masterKey: Buffer): KeyWrapper {
  const key = deriveKey(masterKey, 'key-wrapping/1');
  const keyId = deriveKey(masterKey, 'key-id/1').subarray(0, 16).toString('hex');
  return {
    keyId,
    wrap: (dataKey, place) => Promise.resolve(seal({ id: keyId, key }, place, dataKey)),
    // Inside a promise, so that a broken seal rejects as it would with a KMS.
    unwrap: (wrapped, place) => Promise.resolve().then(() => unseal({ id: keyId, key }, place, wrapped)),
  };
}
