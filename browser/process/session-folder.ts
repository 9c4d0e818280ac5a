import { chown, mkdir } from 'node:fs/promises';
import path from 'node:path';

/** Name of the folder next to the browser's own files. */
const FOLDER_NAME = 'Session';
/** Folders of a new session. */
const INITIAL_FOLDERS = ['home/user', 'root', 'tmp', 'var/log', 'var/tmp'];

/** Owner of a session's files on this machine; null for the service's own user. */
export interface FileOwner {
  uid: number;
  gid: number;
}

/** Locations of a session's files on this machine. */
export interface SessionFolder {
  /** The writable part of its processes' file system, and nothing else. */
  root: string;
  /** Log files of the session's components, hidden from its processes. */
  logs: string;
  /** The service's temporary files (process options, uploads, output), hidden from its processes. */
  work: string;
}

/** Locations below the browser's user-data folder, which is deleted when the session ends. */
export function sessionFolderOf(userDataDir: string): SessionFolder {
  const folder = path.join(userDataDir, FOLDER_NAME);
  return { root: path.join(folder, 'root'), logs: path.join(folder, 'logs'), work: path.join(folder, 'work') };
}

/** Creates the folders; those that processes can write to belong to `owner`. Idempotent. */
export async function createSessionFolder(folder: SessionFolder, owner: FileOwner | null): Promise<void> {
  await mkdir(folder.work, { recursive: true, mode: 0o700 });
  await mkdir(folder.logs, { recursive: true, mode: 0o700 });
  await mkdir(folder.root, { recursive: true, mode: 0o755 });
  for (const name of INITIAL_FOLDERS) {
    let place = folder.root;
    for (const part of name.split('/')) {
      place = path.join(place, part);
      await mkdir(place, { recursive: true, mode: 0o755 });
      if (owner !== null) await chown(place, owner.uid, owner.gid);
    }
  }
}
