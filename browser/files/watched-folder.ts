import type { BigIntStats, FSWatcher } from 'node:fs';
import { watch } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, opendir } from 'node:fs/promises';
import { procPath } from './resolve-path.ts';

/** Last known state of an entry. */
export interface SeenEntry {
  /** Identity of the file. Includes its time of birth, because inodes are reused. */
  key: string;
  isDir: boolean;
  /** Changes with the content. */
  content: string;
}

/** One folder of a watch, held open so that it can be read wherever it is moved. */
export interface WatchedFolder {
  /** Path in the session. */
  path: string;
  handle: FileHandle;
  notices: FSWatcher;
  /** Null for a name that no longer existed when first looked up. */
  known: Map<string, SeenEntry | null>;
  folders: Map<string, WatchedFolder>;
}

/** Kind of a kernel notification: `rename` for names that appear or disappear. */
export type NoticeKind = 'rename' | 'change';

/** Name in notifications about the folder itself. */
export const SELF = '.';

/** Starts watching an open folder, without reading its entries. */
export function watchFolder(
  path: string,
  handle: FileHandle,
  onNotice: (folder: WatchedFolder, kind: NoticeKind, name: string) => void,
): WatchedFolder {
  // Watches the open folder, not what has its name by now.
  const notices = watch(`${procPath(handle)}/${SELF}`, { persistent: false });
  const folder: WatchedFolder = { path, handle, notices, known: new Map(), folders: new Map() };
  notices.on('change', (kind, name) => {
    if (typeof name === 'string') onNotice(folder, kind === 'rename' ? 'rename' : 'change', name);
  });
  notices.on('error', () => undefined);
  return folder;
}

/** Current state of an entry; null if it does not exist. */
export async function look(folder: WatchedFolder, name: string): Promise<SeenEntry | null> {
  const stats = await lstat(inFolder(folder, name), { bigint: true }).catch(() => null);
  return stats === null ? null : entryOf(stats);
}

/** The `content` of a new, empty file. */
export function emptyContent({ key }: SeenEntry): string {
  return `0:${key.split(':')[2] ?? ''}`;
}

/** The names in a folder. */
export async function* namesIn(folder: WatchedFolder): AsyncGenerator<string> {
  for await (const { name } of await opendir(`${procPath(folder.handle)}/`)) yield name;
}

/** Path, for this process, of a name in a folder. */
export function inFolder(folder: WatchedFolder, name: string): string {
  return `${procPath(folder.handle)}/${name}`;
}

/** Path in the session of a name in a folder. */
export function pathOf(folder: WatchedFolder, name: string): string {
  return folder.path === '/' ? `/${name}` : `${folder.path}/${name}`;
}

function entryOf(stats: BigIntStats): SeenEntry {
  return {
    key: `${String(stats.dev)}:${String(stats.ino)}:${String(stats.birthtimeNs)}`,
    isDir: stats.isDirectory(),
    content: `${String(stats.size)}:${String(stats.mtimeNs)}`,
  };
}
