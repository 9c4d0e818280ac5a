import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Cost of a hash: N = 2^15, r = 8, p = 3; about 32 MB and a tenth of a second. */
const COST = { log2N: 15, r: 8, p: 3 } as const;
const KEY_BYTES = 32;
const FORM = /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([\w-]+)\$([\w-]+)$/;

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

/** Hashes a password; the result includes salt and cost. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derived(password, salt, COST);
  return ['scrypt', COST.log2N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

/** Verifies a password. Without a hash (`null`) it takes as long and returns false. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  const [, log2N, r, p, salt = '', key = ''] = FORM.exec(hash ?? '') ?? [];
  const cost = log2N === undefined ? COST : { log2N: Number(log2N), r: Number(r), p: Number(p) };
  const found = await derived(password, Buffer.from(salt, 'base64url'), cost);
  const expected = Buffer.from(key, 'base64url');
  return expected.length === found.length && timingSafeEqual(found, expected);
}

function derived(password: string, salt: Buffer, { log2N, r, p }: { log2N: number; r: number; p: number }) {
  const N = 2 ** log2N;
  // Different Unicode spellings of a password count as the same.
  return derive(password.normalize('NFKC'), salt, KEY_BYTES, { N, r, p, maxmem: 256 * N * r });
}
