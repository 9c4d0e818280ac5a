import type { Stats } from 'node:fs';
import type { FileInfo } from '../../contract/files.ts';

/** What a caller learns of a file. `path` is where it is in the session. */
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

/** Permissions as `ls -l` writes them. */
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
