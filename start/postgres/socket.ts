import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { SetupError } from '../setup/setup-error.ts';

/** Maximum length of a socket path on every platform, in bytes (103 on macOS, 107 on Linux). */
const MAX_SOCKET_PATH_BYTES = 100;
/** The socket name that Postgres clients expect for port 5432. */
const SOCKET_NAME = '.s.PGSQL.5432';

/**
 * The folder for clients to reach the socket in a server's data folder: that folder itself, or, if its path is too long for a
 * socket, a symlink to it in a private temporary folder. The same in every process.
 */
export function socketDirOf(dataFolder: string): string {
  if (Buffer.byteLength(join(dataFolder, SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES) return dataFolder;
  const name = createHash('sha256').update(dataFolder).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `holdfast-${userInfo().uid}-${name}`);
  makePrivateFolder(folder);
  const link = join(folder, 'pg');
  if (linkTarget(link) !== dataFolder) {
    rmSync(link, { force: true });
    try {
      symlinkSync(dataFolder, link);
    } catch (error) {
      // Another process created it at the same moment.
      if (linkTarget(link) !== dataFolder) throw error;
    }
  }
  return link;
}

/** Creates a folder that no other user can enter. Rejects one that another user created first in the temporary folder. */
function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== userInfo().uid)
    throw new SetupError(`${folder} belongs to another user; remove it or set HOLDFAST_DATA_DIR to a shorter path`);
  chmodSync(folder, 0o700);
}

function linkTarget(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
