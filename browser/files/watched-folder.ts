import type { BigIntStats, FSWatcher } from 'node:fs';
import { watch } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, opendir } from 'node:fs/promises';
import { procPath } from './resolve-path.ts';

/** One entry of a folder, as it was last seen. */
export interface SeenEntry {
  /** Tells whether it is still the same: numbers of files are given out again, so the time of birth counts, too. */
  key: string;
  isDir: boolean;
  /** Changes when content does. */
  content: string;
}

/** One folder of a watch, held open: what its names lead to is looked up in it, wherever it has been moved. */
export interface WatchedFolder {
  /** As the session sees it. */
  path: string;
  handle: FileHandle;
  notices: FSWatcher;
  /** Null for a name that was gone when it was first looked at. */
  known: Map<string, SeenEntry | null>;
  folders: Map<string, WatchedFolder>;
}

/** What the kernel says of a name in a folder: `rename` for names that come or go. */
export type NoticeKind = 'rename' | 'change';

/** Name under which a folder's own changes are told. */
export const SELF = '.';

/** Starts to watch a folder, which it takes over. Names in it are not looked at yet. */
export function watchFolder(
  path: string,
  handle: FileHandle,
  onNotice: (folder: WatchedFolder, kind: NoticeKind, name: string) => void,
): WatchedFolder {
  // The kernel watches what is held open, not what has its name by now.
  const notices = watch(`${procPath(handle)}/${SELF}`, { persistent: false });
  const folder: WatchedFolder = { path, handle, notices, known: new Map(), folders: new Map() };
  notices.on('change', (kind, name) => {
    if (typeof name === 'string') onNotice(folder, kind === 'rename' ? 'rename' : 'change', name);
  });
  notices.on('error', () => undefined);
  return folder;
}

/** What a name in a folder is now; null when nothing has it. */
export async function look(folder: WatchedFolder, name: string): Promise<SeenEntry | null> {
  const stats = await lstat(inFolder(folder, name), { bigint: true }).catch(() => null);
  return stats === null ? null : entryOf(stats);
}

/** Content of a file that nothing has been written to since it came. */
export function emptyContent({ key }: SeenEntry): string {
  return `0:${key.split(':')[2] ?? ''}`;
}

/** Names in a folder. */
export async function* namesIn(folder: WatchedFolder): AsyncGenerator<string> {
  for await (const { name } of await opendir(`${procPath(folder.handle)}/`)) yield name;
}

/** A name in a folder, as a path of this process. */
export function inFolder(folder: WatchedFolder, name: string): string {
  return `${procPath(folder.handle)}/${name}`;
}

/** Where a name in a folder is in the session. */
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
