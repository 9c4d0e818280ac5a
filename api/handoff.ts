import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { HANDOFF_LIFETIME_MS } from '../contract/limits.ts';

const NONCE_BYTES = 32;
const EXPIRY_BYTES = 6;
const MAC_BYTES = 32;

/** What a code proved to be. `expiresAt` and `hash` are what its single use is recorded with. */
export type HandoffReading =
  | { outcome: 'valid'; hash: Buffer; expiresAt: Date }
  | { outcome: 'expired' }
  | { outcome: 'unknown' };

/**
 * Codes that carry a person from a link to the hosted page. A code is made without writing anything (every read of a
 * connection shows a `hosted_url`), proves by its MAC which flow it is for, and is good for one exchange: the exchange
 * records its hash.
 */
export interface HandoffCodes {
  mint(connectionId: string, flowId: string): string;
  read(code: string, connectionId: string, flowId: string): HandoffReading;
}

/** @param signingKey the API's signing key; the key of codes is derived from it. */
export function createHandoffCodes(signingKey: Uint8Array, clock: () => Date): HandoffCodes {
  const key = Buffer.from(hkdfSync('sha256', signingKey, '', 'handoff code', 32));

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
      // Only the one spelling: a second one of the same bytes would have another hash.
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
