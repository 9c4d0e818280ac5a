import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, lstat, opendir } from 'node:fs/promises';
import path from 'node:path';
import { HoldfastError } from '../../contract/errors.ts';
import type { FileInfo } from '../../contract/files.ts';
import { withFileErrors } from './file-errors.ts';
import type { SessionFiles } from './session-files.ts';

/**
 * Opens a file of a session for reading. Throws `not_found`, `forbidden`, and `invalid_request` for anything but a file: a FIFO
 * would block and a device would have effects.
 */
export function openFile(files: SessionFiles, sessionPath: string): Promise<FileHandle> {
  return withFileErrors(() =>
    files.at(sessionPath, async (place) => {
      const self = place.self();
      if (place.stats?.isFile() !== true) throw new HoldfastError('invalid_request', 'path: not a file');
      return open(self, constants.O_RDONLY | constants.O_NONBLOCK);
    }),
  );
}

/** Most entries of a listing; larger folders can be downloaded. */
const MAX_ENTRIES = 100_000;

/** Lists a folder, sorted by name. Links are listed as links. Throws `not_found`, `invalid_request`, `forbidden`. */
export function listFolder(files: SessionFiles, sessionPath: string): Promise<FileInfo[]> {
  return withFileErrors(() =>
    files.at(sessionPath, async (place) => {
      const folder = place.folder();
      const entries: FileInfo[] = [];
      for await (const { name } of await opendir(`${folder}/`)) {
        // Deleted meanwhile, or the name is not valid text.
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

/** Describes the file or folder at a path. Throws `not_found`, `forbidden`. */
export function fileInfoAt(files: SessionFiles, sessionPath: string): Promise<FileInfo> {
  return withFileErrors(() =>
    files.at(sessionPath, (place) => {
      place.self();
      if (place.stats === null) throw new Error('an existing entry has no stats');
      return Promise.resolve(fileInfo(place.path, place.stats));
    }),
  );
}

/** Describes a file; `path` is its path in the session. */
export function fileInfo(path: string, stats: Stats): FileInfo {
  const isDir = stats.isDirectory();
  return {
    name: path === '/' ? '/' : path.slice(path.lastIndexOf('/') + 1),
    path,
    is_dir: isDir,
    size_bytes: isDir ? 0 : stats.size,
    mode: modeText(stats),
    mod_time: stats.mtime.toISOString(),
  };
}

/** Permissions as in `ls -l`. */
function modeText(stats: Stats): string {
  const bits = [0o400, 0o200, 0o100, 0o040, 0o020, 0o010, 0o004, 0o002, 0o001];
  const letters = bits.map((bit, index) => ((stats.mode & bit) === 0 ? '-' : 'rwx'.charAt(index % 3)));
  const special: [number, number, string][] = [
    [0o4000, 2, 's'],
    [0o2000, 5, 's'],
    [0o1000, 8, 't'],
  ];
  for (const [bit, place, letter] of special) {
    if ((stats.mode & bit) !== 0) letters[place] = letters[place] === 'x' ? letter : letter.toUpperCase();
  }
  return kindLetter(stats) + letters.join('');
}

function kindLetter(stats: Stats): string {
  if (stats.isDirectory()) return 'd';
  if (stats.isSymbolicLink()) return 'l';
  if (stats.isFIFO()) return 'p';
  if (stats.isSocket()) return 's';
  return stats.isFile() ? '-' : 'c';
}
