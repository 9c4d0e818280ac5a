import { chown, mkdir } from 'node:fs/promises';
import path from 'node:path';

/** Name of the folder beside the browser's own files. */
const FOLDER_NAME = 'Session';
/** Folders that a session starts with, and whether its processes own them. */
const FIRST_FOLDERS = ['home/user', 'root', 'tmp', 'var/log', 'var/tmp'];

/** Owner of the files of a session on this machine; null when that is the service's own user. */
export interface FileOwner {
  uid: number;
  gid: number;
}

/** Where a session's files lie on this machine. */
export interface SessionFolder {
  /** What its processes see as their file system's writable part. Nothing else of the session is in it. */
  root: string;
  /** What its parts say: one log file each. Its processes do not see it. */
  logs: string;
  /** Files that the service makes to start processes, receive uploads and hold output. Its processes do not see it. */
  work: string;
}

/** The places below a browser's user-data folder, which is removed when the session ends. */
export function sessionFolderOf(userDataDir: string): SessionFolder {
  const folder = path.join(userDataDir, FOLDER_NAME);
  return { root: path.join(folder, 'root'), logs: path.join(folder, 'logs'), work: path.join(folder, 'work') };
}

/** Makes them; those that processes write belong to `owner`. Calling it again changes nothing. */
export async function createSessionFolder(folder: SessionFolder, owner: FileOwner | null): Promise<void> {
  await mkdir(folder.work, { recursive: true, mode: 0o700 });
  await mkdir(folder.logs, { recursive: true, mode: 0o700 });
  await mkdir(folder.root, { recursive: true, mode: 0o755 });
  for (const name of FIRST_FOLDERS) {
    let place = folder.root;
    for (const part of name.split('/')) {
      place = path.join(place, part);
      await mkdir(place, { recursive: true, mode: 0o755 });
      if (owner !== null) await chown(place, owner.uid, owner.gid);
    }
  }
}
