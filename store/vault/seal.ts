import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Length of a key. */
export const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 16;
const FORMAT = 1;
const HEADER_BYTES = 1 + KEY_ID_BYTES;
const CIPHER = 'aes-256-gcm';

/** A key and its public id (32 hex digits), which is part of everything it seals. */
export interface SealingKey {
  id: string;
  key: Buffer;
}

/** Where a ciphertext is stored. It is bound to this place and does not open in another. */
export interface SealedPlace {
  table: string;
  column: string;
  rowId: string;
}

/** A ciphertext was changed, moved, or sealed by an unknown key. Reveals nothing about the content. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/** A new random key id. */
export function newKeyId(): string {
  return randomBytes(KEY_ID_BYTES).toString('hex');
}

/**
 * Seals with AES-256-GCM and a random 96-bit IV. Layout: format (1 byte), key id (16), IV (12), ciphertext, tag (16). The
 * header and the place are authenticated as well.
 */
export function seal(sealingKey: SealingKey, place: SealedPlace, plaintext: Buffer): Buffer {
  const header = Buffer.concat([Buffer.from([FORMAT]), Buffer.from(sealingKey.id, 'hex')]);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, sealingKey.key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(additionalData(header, place));
  return Buffer.concat([header, iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Id of the key that sealed a blob. Throws {@link SealBroken} if it is not a sealed blob. */
export function sealedBy(blob: Buffer): string {
  if (blob.length < HEADER_BYTES + IV_BYTES + TAG_BYTES || blob[0] !== FORMAT)
    throw new SealBroken('This is not a sealed value');
  return blob.subarray(1, HEADER_BYTES).toString('hex');
}

/** Opens a blob of {@link seal}. Throws {@link SealBroken}. */
export function unseal(sealingKey: SealingKey, place: SealedPlace, blob: Buffer): Buffer {
  if (sealedBy(blob) !== sealingKey.id) throw new SealBroken('The value was sealed by another key');
  const header = blob.subarray(0, HEADER_BYTES);
  const iv = blob.subarray(HEADER_BYTES, HEADER_BYTES + IV_BYTES);
  // Without an explicit tag length, Node accepts 4-byte tags.
  const decipher = createDecipheriv(CIPHER, sealingKey.key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(additionalData(header, place));
  decipher.setAuthTag(blob.subarray(blob.length - TAG_BYTES));
  try {
    const head = decipher.update(blob.subarray(HEADER_BYTES + IV_BYTES, blob.length - TAG_BYTES));
    return Buffer.concat([head, decipher.final()]);
  } catch {
    throw new SealBroken(`A sealed value of ${place.table}.${place.column} was changed or moved`);
  }
}

/** Length-prefixed, so that no two places encode alike. */
function additionalData(header: Buffer, place: SealedPlace): Buffer {
  const parts = [place.table, place.column, place.rowId].map((text) => Buffer.from(text, 'utf8'));
  return Buffer.concat([
    header,
    ...parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  ]);
}
