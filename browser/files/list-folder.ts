import { lstat, opendir } from 'node:fs/promises';
import path from 'node:path';
import { HoldfastError } from '../../contract/errors.ts';
import type { FileInfo } from '../../contract/files.ts';
import { withFaults } from './faults.ts';
import { fileInfo } from './file-info.ts';
import type { SessionFiles } from './session-files.ts';

/** Most entries that one listing holds: a caller who has more downloads the folder. */
const MAX_ENTRIES = 100_000;

/** The entries of a folder by name. Links are listed as links. Throws `not_found`, `invalid_request`, `forbidden`. */
export function listFolder(files: SessionFiles, sessionPath: string): Promise<FileInfo[]> {
  return withFaults(() =>
    files.at(sessionPath, async (place) => {
      const folder = place.self();
      if (place.stats?.isDirectory() !== true) throw new HoldfastError('invalid_request', 'path: not a directory');
      const entries: FileInfo[] = [];
      for await (const { name } of await opendir(`${folder}/`)) {
        // Gone meanwhile, or a name that is not text: nobody could ask for it.
        const stats = await lstat(`${folder}/${name}`).catch(() => null);
        if (stats === null) continue;
        entries.push(fileInfo(path.posix.join(place.path, name), stats));
        if (entries.length > MAX_ENTRIES) {
          throw new HoldfastError('operation_failed', `The directory has more than ${String(MAX_ENTRIES)} entries`);
        }
      }
      return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
    }),
  );
}

/** What a path leads to. Throws `not_found`, `forbidden`. */
export function infoOf(files: SessionFiles, sessionPath: string): Promise<FileInfo> {
  return withFaults(() =>
    files.at(sessionPath, (place) => {
      place.self();
      if (place.stats === null) throw new Error('a place that is there has no state');
      return Promise.resolve(fileInfo(place.path, place.stats));
    }),
  );
}
