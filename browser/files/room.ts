import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { HoldfastError } from '../../contract/errors.ts';
import { withFileErrors } from './file-errors.ts';
import type { ResolvedPath } from './resolve-path.ts';
import type { SessionFiles } from './session-files.ts';

/** Tells of places whether something can be put there, without changing anything. */
export interface Room {
  /** Throws what making the folder, and those on the way to it, would end with. */
  forFolder(sessionPath: string): Promise<void>;
  /** Throws what putting a file there would end with. */
  forFile(sessionPath: string): Promise<void>;
}

/**
 * Looks at each folder once. What processes change afterwards it cannot know: it is for what is wrong from the start, so
 * that the first of many changes is not made when the last is bound to fail.
 */
export function createRoom(files: SessionFiles): Room {
  /** Folders that were looked at, and whether they are there. */
  const known = new Map<string, Promise<boolean>>();

  const isThere = (folder: string): Promise<boolean> => {
    const found = known.get(folder) ?? look(folder);
    known.set(folder, found);
    return found;
  };
  const look = async (folder: string): Promise<boolean> => {
    if (folder !== '/' && !(await isThere(path.posix.dirname(folder)))) return false;
    return withFileErrors(() => files.at(folder, (place) => Promise.resolve(isFolder(place))));
  };
  /** The last folder on a path that is there takes what is new. */
  const assertWritable = async (folder: string): Promise<void> => {
    if (!(await isThere(folder))) return assertWritable(path.posix.dirname(folder));
    await withFileErrors(() => files.at(folder, (place) => access(place.self(), constants.W_OK | constants.X_OK)));
  };

  return {
    forFolder: async (folder) => {
      if (!(await isThere(folder))) await assertWritable(folder);
    },
    forFile: async (file) => {
      const folder = path.posix.dirname(file);
      await assertWritable(folder);
      if (await isThere(folder)) await withFileErrors(() => files.at(file, assertNoFolder));
    },
  };
}

/** False when nothing is there. */
function isFolder({ stats }: ResolvedPath): boolean {
  if (stats?.isDirectory() === false) {
    throw new HoldfastError('invalid_request', 'path: a parent is not a directory');
  }
  return stats !== null;
}

function assertNoFolder({ name, stats }: ResolvedPath): Promise<void> {
  if (name !== null && stats?.isDirectory() !== true) return Promise.resolve();
  throw new HoldfastError('invalid_request', 'path: is a directory');
}
