import { chmod, lchown, lstat, mkdir, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { HoldfastError } from '../../contract/errors.ts';
import { withFieldName, withFileErrors } from './file-errors.ts';
import type { ResolvedPath } from './resolve-path.ts';
import { openFolder, namesOf, procPath } from './resolve-path.ts';
import type { SessionFiles } from './session-files.ts';

/** Deepest folder that is removed with what it holds: each level is held open meanwhile. */
const MAX_DEPTH = 512;
/** Permissions of a folder for which none are given. */
const FOLDER_MODE = 0o755;

/** Makes a folder, and those on the way to it; one that is there already is left as it is. A link to nowhere stays one. */
export function createFolder(files: SessionFiles, sessionPath: string, mode = FOLDER_MODE): Promise<void> {
  return withFileErrors(async () => {
    const names = namesOf(sessionPath);
    for (let count = 1; count <= names.length; count++) {
      const isLast = count === names.length;
      const part = `/${names.slice(0, count).join('/')}`;
      const isLink = await files.entry(part, ({ stats }) => Promise.resolve(stats?.isSymbolicLink() === true));
      await files.at(part, async (place) => {
        if (place.stats?.isDirectory() === true) return;
        if (place.stats === null && isLink) throw new HoldfastError('not_found', 'path: a link on it leads nowhere');
        if (place.stats !== null || place.name === null) {
          throw new HoldfastError('invalid_request', 'path: a parent is not a directory');
        }
        await mkdir(place.in(place.name), { mode: FOLDER_MODE }).catch(unlessThere);
        await chownToOwner(files, place.in(place.name));
        if (isLast) await setMode(place.in(place.name), mode);
      });
    }
  });
}

/** Removes a file, a link or whatever is no folder. */
export function deleteFile(files: SessionFiles, sessionPath: string): Promise<void> {
  return withFileErrors(() =>
    files.entry(sessionPath, async (place) => {
      place.self();
      if (place.stats?.isDirectory() === true) throw new HoldfastError('invalid_request', 'path: is a directory');
      await unlink(place.in(nameOf(place)));
    }),
  );
}

/** Removes a folder with everything in it; a link to one is not a folder. */
export function deleteFolder(files: SessionFiles, sessionPath: string): Promise<void> {
  return withFileErrors(() =>
    files.entry(sessionPath, async (place) => {
      const folder = place.self();
      if (place.stats?.isDirectory() !== true) throw new HoldfastError('invalid_request', 'path: not a directory');
      await emptyFolder(folder, 0);
      await rmdir(place.in(nameOf(place)));
    }),
  );
}

/** Gives something another name or place; what is there is replaced as rename(2) does it. */
export function move(files: SessionFiles, from: string, to: string): Promise<void> {
  return withFieldName('src_path', () =>
    files.entry(from, async (source) => {
      source.self();
      const name = source.in(nameOf(source));
      await withFieldName('dest_path', () => files.entry(to, (target) => rename(name, target.in(nameOf(target)))));
    }),
  );
}

/** Sets the permissions of what a path leads to. */
export function setPermissions(files: SessionFiles, sessionPath: string, mode: number): Promise<void> {
  return withFileErrors(() => files.at(sessionPath, (place) => chmod(place.self(), mode)));
}

/** Hands something new over to those who use the session's files; a link that took its place is handed over itself. */
export async function chownToOwner({ owner }: Pick<SessionFiles, 'owner'>, place: string): Promise<void> {
  if (owner !== null) await lchown(place, owner.uid, owner.gid);
}

/** The walk holds each folder open, so that a link which takes its place meanwhile is removed, not followed. */
async function emptyFolder(folder: string, depth: number): Promise<void> {
  if (depth > MAX_DEPTH)
    throw new HoldfastError(
      'operation_failed',
      'The directory is nested too deeply to delete at once; delete its parts first',
    );
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

function unlessThere(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}
