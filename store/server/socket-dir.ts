import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Name of the socket, as every Postgres client expects it for port 5432. */
export const SOCKET_NAME = '.s.PGSQL.5432';

/** Longest path of a unix socket that every platform takes, in bytes (macOS ends at 103, Linux at 107). */
const MAX_SOCKET_PATH_BYTES = 100;

/**
 * The folder for the store's socket: `preferred` unless its path is too long for a socket, else a private one in the
 * temporary folder whose name follows from `preferred`. The same in every process that asks with the same argument.
 */
export function chooseSocketDir(preferred: string): string {
  if (Buffer.byteLength(join(preferred, SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES) return preferred;
  const name = createHash('sha256').update(preferred).digest('hex').slice(0, 16);
  return join(tmpdir(), `holdfast-${userInfo().uid}-${name}`);
}

/** Makes a folder that nobody else can enter. Throws when somebody else owns what is there. */
export function makePrivateDir(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const found = lstatSync(dir);
  if (!found.isDirectory() || found.uid !== userInfo().uid)
    throw new Error(`${dir} is not a folder of this user; remove it or choose another.`);
  chmodSync(dir, 0o700);
}
