import type { FileHandle } from 'node:fs/promises';
import { HoldfastError } from '../../contract/errors.ts';
import type { FileEvent } from '../../contract/files.ts';
import { openFolder } from './resolve-path.ts';
import type { WatchEvents } from './watch-events.ts';
import type { NoticeKind, SeenEntry, WatchedFolder } from './watched-folder.ts';
import { inFolder, look, namesIn, pathOf, SELF, emptyContent, watchFolder } from './watched-folder.ts';

/** Most folders that one watch follows: each is held open. */
const MAX_FOLDERS = 500;
/** Most entries that one watch remembers. */
const MAX_ENTRIES = 50_000;
/** Most notices of the kernel that wait to be looked at. */
const MAX_NOTICES = 5000;
/** How many notices ahead the other half of a renaming is looked for: the kernel tells both at once. */
const LOOK_AHEAD = 4;
/** How often it is looked whether the folder itself has gone, in milliseconds: of what is held open nothing tells. */
const ROOT_CHECK_MS = 500;
const TOO_LARGE = `The folder holds more than a watch follows (${String(MAX_FOLDERS)} folders, ${String(MAX_ENTRIES)} entries)`;

/** A running watch. */
export interface TreeWatch {
  close(): Promise<void>;
}

/** What is watched. */
interface WatchedTree {
  /** Held open by the caller; the watch takes it over. */
  handle: FileHandle;
  /** Where it is in the session. */
  path: string;
  recursive: boolean;
  /** Names at the top that are left out. */
  skip: ReadonlySet<string>;
}

interface Notice {
  folder: WatchedFolder;
  kind: NoticeKind;
  name: string;
}

/**
 * Follows what changes in a folder, and below it when asked. The kernel only says that something is with a name; what it is
 * follows from what was there before. No path is followed twice: each folder is held open and its names are looked up in it
 * without following links, so that nothing a process does to the tree meanwhile leads out of the session. (The libraries for
 * this follow paths.) Throws `operation_failed` for a tree that is too large.
 */
export async function watchTree(tree: WatchedTree, events: WatchEvents): Promise<TreeWatch> {
  const folders = new Set<WatchedFolder>();
  let entries = 0;
  let notices: Notice[] = [];
  let working: Promise<void> | null = null;
  let ready = false;
  let closed = false;

  const take = (folder: WatchedFolder, kind: NoticeKind, name: string): void => {
    if (closed || !folders.has(folder)) return;
    if (notices.length >= MAX_NOTICES) {
      events.lost(1);
      return;
    }
    notices.push({ folder, kind, name });
    start();
  };
  /** Not before all is known that was there at first. */
  const start = (): void => {
    if (ready && notices.length > 0) working ??= work();
  };
  const work = async (): Promise<void> => {
    // What the kernel tells at once is there at once: the other half of a renaming can be seen.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      for (let next = notices.shift(); next !== undefined && !closed; next = notices.shift()) await judge(next);
    } catch (error) {
      stop(error instanceof HoldfastError ? error.message : 'The folder cannot be followed any more');
    } finally {
      working = null;
      if (closed) leave(root);
    }
  };
  const tell = (type: FileEvent['type'], folder: WatchedFolder, name: string, entry: SeenEntry | null): void => {
    events.push({ type, path: pathOf(folder, name), name, ...(entry === null ? {} : { is_dir: entry.isDir }) });
  };

  const judge = async ({ folder, kind, name }: Notice): Promise<void> => {
    if (!folders.has(folder)) return;
    if (name === SELF) return;
    if (folder === root && tree.skip.has(name)) return;
    const before = folder.known.get(name);
    const now = await look(folder, name);
    if (kind === 'change' && before !== undefined) {
      if (now === null || now.isDir || now.content === before?.content) return;
      folder.known.set(name, now);
      tell('WRITE', folder, name, now);
      return;
    }
    if (now === null) {
      if (before === undefined) return appear(folder, name, null, false);
      const moved = before !== null && (await hasMoved(before));
      forget(folder, name);
      tell(moved ? 'RENAME' : 'DELETE', folder, name, before);
      return;
    }
    if (before?.key !== now.key) await appear(folder, name, now, wasElsewhere(now));
  };

  /** Looks among what else was told at once whether a name that is gone is another one by now. */
  const hasMoved = async ({ key }: SeenEntry): Promise<boolean> => {
    for (const { folder, kind, name } of notices.slice(0, LOOK_AHEAD)) {
      if (kind === 'rename' && folders.has(folder) && (await look(folder, name))?.key === key) {
        arrivals.add(key);
        return true;
      }
    }
    return false;
  };
  const arrivals = new Set<string>();
  const wasElsewhere = ({ key }: SeenEntry): boolean => arrivals.delete(key);

  const appear = async (
    folder: WatchedFolder,
    name: string,
    entry: SeenEntry | null,
    wasThere: boolean,
  ): Promise<void> => {
    if (folder.known.has(name)) forget(folder, name);
    // Content that was written before we looked is told by the notice of its writing, which comes next.
    remember(folder, name, entry === null || wasThere ? entry : { ...entry, content: emptyContent(entry) });
    tell('CREATE', folder, name, entry);
    if (entry?.isDir === true && tree.recursive) await enter(folder, name, true);
  };

  const remember = (folder: WatchedFolder, name: string, entry: SeenEntry | null): void => {
    if (entries >= MAX_ENTRIES) throw new HoldfastError('operation_failed', TOO_LARGE);
    entries += 1;
    folder.known.set(name, entry);
  };
  const forget = (folder: WatchedFolder, name: string): void => {
    if (folder.known.delete(name)) entries -= 1;
    const below = folder.folders.get(name);
    folder.folders.delete(name);
    if (below !== undefined) leave(below);
  };

  /** Follows a folder below. What is in it already is news when the folder is. */
  const enter = async (parent: WatchedFolder, name: string, isNews: boolean): Promise<void> => {
    if (folders.size >= MAX_FOLDERS) throw new HoldfastError('operation_failed', TOO_LARGE);
    // Gone, or another thing by now: its own notice comes.
    const handle = await openFolder(inFolder(parent, name)).catch(() => null);
    if (handle === null) return;
    const folder = await open(pathOf(parent, name), handle);
    parent.folders.set(name, folder);
    await readNames(folder, isNews);
  };
  const open = async (path: string, handle: FileHandle): Promise<WatchedFolder> => {
    try {
      const folder = watchFolder(path, handle, take);
      folders.add(folder);
      return folder;
    } catch {
      await handle.close();
      throw new HoldfastError(
        'operation_failed',
        'No directory watch is available on this machine; stop others and retry',
      );
    }
  };
  const readNames = async (folder: WatchedFolder, isNews: boolean): Promise<void> => {
    try {
      for await (const name of namesIn(folder)) {
        const entry = folder === root && tree.skip.has(name) ? null : await look(folder, name);
        if (entry === null || closed || folder.known.has(name)) continue;
        if (isNews) await appear(folder, name, entry, false);
        else {
          remember(folder, name, entry);
          if (entry.isDir && tree.recursive) await enter(folder, name, false);
        }
      }
    } catch (error) {
      // Gone meanwhile, or its permissions forbid to read it: nothing of it is told.
      if (error instanceof HoldfastError) throw error;
    }
  };

  const leave = (folder: WatchedFolder): void => {
    if (!folders.delete(folder)) return;
    entries -= folder.known.size;
    folder.notices.close();
    void folder.handle.close();
    for (const below of folder.folders.values()) leave(below);
  };
  const checkRoot = async (): Promise<void> => {
    if ((await tree.handle.stat()).nlink > 0 || closed) return;
    events.push({ type: 'DELETE', path: tree.path, name: tree.path.split('/').at(-1) ?? '', is_dir: true });
    stop('The folder has been removed');
  };
  const stop = (why?: string): void => {
    if (closed) return;
    closed = true;
    clearInterval(rootCheck);
    notices = [];
    events.end(why);
    // Folders are not closed under whoever looks into them.
    if (working === null) leave(root);
  };

  const rootCheck = setInterval(() => {
    // What was in it comes first.
    if (ready && working === null) void checkRoot().catch(() => undefined);
  }, ROOT_CHECK_MS);
  rootCheck.unref();
  const root = await open(tree.path, tree.handle);
  try {
    await readNames(root, false);
  } catch (error) {
    stop();
    throw error;
  }
  ready = true;
  start();
  return {
    close: async () => {
      stop();
      await working;
    },
  };
}
