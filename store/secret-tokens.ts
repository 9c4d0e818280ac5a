import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const API_KEY_PREFIX = 'hf_live_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 12;
/** 256 bits in base 62. */
const SECRET_LENGTH = 43;
/** 32 bits in base 62. */
const CHECKSUM_LENGTH = 6;
const FORMAT = new RegExp(
  `^${API_KEY_PREFIX}[0-9A-Za-z]{${ID_LENGTH}}_[0-9A-Za-z]{${SECRET_LENGTH}}[0-9A-Za-z]{${CHECKSUM_LENGTH}}$`,
);

/** A new API key: prefix, public id, 256 random bits, and a checksum that reveals a mistyped key without a lookup. */
export function newApiKey(): string {
  const id = base62(randomBytes(9)).slice(-ID_LENGTH).padStart(ID_LENGTH, '0');
  const body = `${API_KEY_PREFIX}${id}_${base62(randomBytes(32)).padStart(SECRET_LENGTH, '0')}`;
  return body + checksum(body);
}

/**
 * True if a token can be an API key. In the format of our own keys it needs a valid checksum; any other string may be a key
 * chosen by the operator.
 */
export function isPlausibleApiKey(token: string): boolean {
  if (!FORMAT.test(token)) return token.length >= 20 && token.length <= 512;
  return token.slice(-CHECKSUM_LENGTH) === checksum(token.slice(0, -CHECKSUM_LENGTH));
}

/** A new secret of 256 random bits, in characters that are safe in URLs and cookies. */
export function newSecretToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The hash stored instead of a token or API key. A plain SHA-256 suffices for 256 random bits. */
export function hashSecretToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** The masked form for lists: enough to recognize a key, nothing that helps to guess it. */
export function maskApiKey(token: string): string {
  const head = FORMAT.test(token) ? token.slice(0, API_KEY_PREFIX.length + 4) : token.slice(0, 2);
  return `${head}…${token.slice(-2)}`;
}

function checksum(body: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return base62(bytes).padStart(CHECKSUM_LENGTH, '0');
}

function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  while (rest > 0n) {
    text = (ALPHABET[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}
