import { createHash, randomBytes } from 'node:crypto';

/** A new secret of 256 random bits, in characters that a URL and a cookie take as they are. */
export function newSecretToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The hash of a {@link newSecretToken} that is stored in its place. A plain SHA-256 suffices for 256 random bits. */
export function hashSecretToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}
