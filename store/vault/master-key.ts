import { hkdfSync } from 'node:crypto';
import { KEY_BYTES, seal, unseal, type SealedPlace } from './seal.ts';

/**
 * A 32-byte key for one purpose, derived from the master key (HKDF-SHA-256). Keys of different purposes tell nothing of
 * each other or of the master key.
 */
export function deriveKey(masterKey: Buffer, purpose: string): Buffer {
  if (masterKey.length !== KEY_BYTES) throw new RangeError(`The master key must have ${KEY_BYTES} bytes`);
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `holdfast/${purpose}`, KEY_BYTES));
}

/** Wraps data keys: the local master key, or a key that never leaves a KMS. */
export interface KeyWrapper {
  /** Names the wrapping key; stored beside what it wrapped. */
  readonly keyId: string;
  wrap(dataKey: Buffer, place: SealedPlace): Promise<Buffer>;
  /** Throws when the wrapped key was changed or moved, or when another key wrapped it. */
  unwrap(wrapped: Buffer, place: SealedPlace): Promise<Buffer>;
}

/** A wrapper that holds the master key in memory. The master key itself wraps nothing: a key derived from it does. */
export function createLocalKeyWrapper(masterKey: Buffer): KeyWrapper {
  const key = deriveKey(masterKey, 'key-wrapping/1');
  const keyId = deriveKey(masterKey, 'key-id/1').subarray(0, 16).toString('hex');
  return {
    keyId,
    wrap: (dataKey, place) => Promise.resolve(seal({ id: keyId, key }, place, dataKey)),
    // Inside a promise, so that a broken seal is a rejection as it would be with a KMS.
    unwrap: (wrapped, place) => Promise.resolve().then(() => unseal({ id: keyId, key }, place, wrapped)),
  };
}
