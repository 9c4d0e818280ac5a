import { chmod, lchown, lstat, mkdir, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { HoldfastError } from '../../contract/errors.ts';
import { withFieldName, withFileErrors } from './file-errors.ts';
import type { ResolvedPath } from './resolve-path.ts';
import { openFolder, namesOf, procPath } from './resolve-path.ts';
import type { SessionFiles } from './session-files.ts';

/** Greatest depth of a folder to delete; each level is held open. */
const MAX_DEPTH = 512;
/** Default permissions of a folder. */
const FOLDER_MODE = 0o755;

/** Creates a folder and its parents; existing ones are left unchanged. Throws `not_found` at a dangling link. */
export function createFolder(files: SessionFiles, sessionPath: string, mode = FOLDER_MODE): Promise<void> {
  return withFileErrors(async () => {
    const names = namesOf(sessionPath);
    for (let count = 1; count <= names.length; count++) {
      const isLast = count === names.length;
      const part = `/${names.slice(0, count).join('/')}`;
      const isLink = await files.entry(part, ({ stats }) => Promise.resolve(stats?.isSymbolicLink() === true));
      await files.at(part, async (place) => {
        if (place.stats?.isDirectory() === true) return;
        if (place.stats === null && isLink) throw new HoldfastError('not_found', 'path: contains a dangling link');
        if (place.stats !== null || place.name === null) {
          throw new HoldfastError('invalid_request', 'path: a parent is not a directory');
        }
        await mkdir(place.in(place.name), { mode: FOLDER_MODE }).catch(ignoreExisting);
        await chownToOwner(files, place.in(place.name));
        if (isLast) await setMode(place.in(place.name), mode);
      });
    }
  });
}

/** Deletes a file, link or anything else but a folder. */
export function deleteFile(files: SessionFiles, sessionPath: string): Promise<void> {
  return withFileErrors(() =>
    files.entry(sessionPath, async (place) => {
      place.self();
      if (place.stats?.isDirectory() === true) throw new HoldfastError('invalid_request', 'path: is a directory');
      await unlink(place.in(nameOf(place)));
    }),
  );
}

/** Deletes a folder with its contents; a link to one does not count as a folder. */
export function deleteFolder(files: SessionFiles, sessionPath: string): Promise<void> {
  return withFileErrors(() =>
    files.entry(sessionPath, async (place) => {
      const folder = place.folder();
      await emptyFolder(folder, 0);
      await rmdir(place.in(nameOf(place)));
    }),
  );
}

/** Renames or moves an entry, replacing the target like rename(2). */
export function move(files: SessionFiles, from: string, to: string): Promise<void> {
  return withFieldName('src_path', () =>
    files.entry(from, async (source) => {
      source.self();
      const name = source.in(nameOf(source));
      await withFieldName('dest_path', () => files.entry(to, (target) => rename(name, target.in(nameOf(target)))));
    }),
  );
}

/** Sets permissions, following links. */
export function setPermissions(files: SessionFiles, sessionPath: string, mode: number): Promise<void> {
  return withFileErrors(() => files.at(sessionPath, (place) => chmod(place.self(), mode)));
}

/** Makes the session's user the owner of a new entry; never follows a link that replaced it. */
export async function chownToOwner({ owner }: Pick<SessionFiles, 'owner'>, place: string): Promise<void> {
  if (owner !== null) await lchown(place, owner.uid, owner.gid);
}

/** Holds each folder open, so that a link that replaces it is deleted, not followed. */
async function emptyFolder(folder: string, depth: number): Promise<void> {
  if (depth > MAX_DEPTH) {
    throw new HoldfastError('operation_failed', 'The directory is nested too deeply; delete its subdirectories first');
  }
  for await (const { name } of await opendir(`${folder}/`)) {
    const place = `${folder}/${name}`;
    if ((await lstat(place).catch(() => null))?.isDirectory() === true) {
      const handle = await openFolder(place);
      try {
        await emptyFolder(procPath(handle), depth + 1);
      } finally {
        await handle.close();
      }
      await rmdir(place);
    } else {
      await unlink(place);
    }
  }
}

async function setMode(place: string, mode: number): Promise<void> {
  const handle = await openFolder(place);
  try {
    await chmod(procPath(handle), mode);
  } finally {
    await handle.close();
  }
}

function nameOf({ name }: ResolvedPath): string {
  if (name !== null) return name;
  throw new HoldfastError('invalid_request', 'path: the root of a session cannot be moved or deleted');
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}
