import type { FileHandle } from 'node:fs/promises';
import { HoldfastError } from '../../contract/errors.ts';
import type { FileEvent } from '../../contract/files.ts';
import { openFolder } from './resolve-path.ts';
import type { WatchEvents } from './watch-events.ts';
import type { NoticeKind, SeenEntry, WatchedFolder } from './watched-folder.ts';
import { inFolder, look, namesIn, pathOf, SELF, emptyContent, watchFolder } from './watched-folder.ts';

/** Most folders of one watch; each is held open. */
const MAX_FOLDERS = 500;
/** Most entries tracked by one watch. */
const MAX_ENTRIES = 50_000;
/** Most unprocessed kernel notifications. */
const MAX_NOTICES = 5000;
/** How many notifications ahead to look for the other half of a rename; the kernel sends both together. */
const LOOK_AHEAD = 4;
/** How often to check whether the watched folder itself was deleted, in milliseconds; no notification reports it. */
const ROOT_CHECK_MS = 500;
const TOO_LARGE = `The directory is too large to watch (limits: ${String(MAX_FOLDERS)} directories, ${String(MAX_ENTRIES)} entries)`;

/** A running watch. */
export interface TreeWatch {
  close(): Promise<void>;
}

interface WatchedTree {
  /** Open handle, owned by the watch from now on. */
  handle: FileHandle;
  /** Path in the session. */
  path: string;
  recursive: boolean;
  /** Top-level names to ignore. */
  skip: ReadonlySet<string>;
}

interface Notice {
  folder: WatchedFolder;
  kind: NoticeKind;
  name: string;
}

/**
 * Watches a folder, optionally recursively. The kernel only reports that something happened to a name; comparing with the former
 * state tells what. Each folder is held open and its names are looked up in it without following links, so that the watch
 * cannot be led out of the session (unlike libraries, which follow paths). Throws `operation_failed` for a tree too large.
 */
export async function watchTree(tree: WatchedTree, events: WatchEvents): Promise<TreeWatch> {
  const folders = new Set<WatchedFolder>();
  let entries = 0;
  let notices: Notice[] = [];
  let working: Promise<void> | null = null;
  let ready = false;
  let closed = false;

  const onNotice = (folder: WatchedFolder, kind: NoticeKind, name: string): void => {
    if (closed || !folders.has(folder)) return;
    if (notices.length >= MAX_NOTICES) {
      events.lost(1);
      return;
    }
    notices.push({ folder, kind, name });
    start();
  };
  /** Not before the initial state is known. */
  const start = (): void => {
    if (ready && notices.length > 0) working ??= work();
  };
  const work = async (): Promise<void> => {
    // Lets notifications sent together arrive, so that both halves of a rename are seen.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      for (let next = notices.shift(); next !== undefined && !closed; next = notices.shift()) await handle(next);
    } catch (error) {
      stop(error instanceof HoldfastError ? error.message : 'The directory can no longer be watched');
    } finally {
      working = null;
      if (closed) release(root);
    }
  };
  const emit = (type: FileEvent['type'], folder: WatchedFolder, name: string, entry: SeenEntry | null): void => {
    events.push({ type, path: pathOf(folder, name), name, ...(entry === null ? {} : { is_dir: entry.isDir }) });
  };

  const handle = async ({ folder, kind, name }: Notice): Promise<void> => {
    if (!folders.has(folder)) return;
    if (name === SELF) return;
    if (folder === root && tree.skip.has(name)) return;
    const before = folder.known.get(name);
    const now = await look(folder, name);
    if (kind === 'change' && before !== undefined) {
      if (now === null || now.isDir || now.content === before?.content) return;
      folder.known.set(name, now);
      emit('WRITE', folder, name, now);
      return;
    }
    if (now === null) {
      if (before === undefined) return addEntry(folder, name, null, false);
      const moved = before !== null && (await hasMoved(before));
      forget(folder, name);
      emit(moved ? 'RENAME' : 'DELETE', folder, name, before);
      return;
    }
    if (before?.key !== now.key) await addEntry(folder, name, now, isArrival(now));
  };

  /** Whether a missing entry reappears under another name among the next notifications. */
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
  const isArrival = ({ key }: SeenEntry): boolean => arrivals.delete(key);

  const addEntry = async (
    folder: WatchedFolder,
    name: string,
    entry: SeenEntry | null,
    wasRenamed: boolean,
  ): Promise<void> => {
    if (folder.known.has(name)) forget(folder, name);
    // Content written before this look is reported by the next notification, so compare with an empty file then.
    remember(folder, name, entry === null || wasRenamed ? entry : { ...entry, content: emptyContent(entry) });
    emit('CREATE', folder, name, entry);
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
    if (below !== undefined) release(below);
  };

  /** Watches a subfolder. Its entries are reported as new if the folder is. */
  const enter = async (parent: WatchedFolder, name: string, isNew: boolean): Promise<void> => {
    if (folders.size >= MAX_FOLDERS) throw new HoldfastError('operation_failed', TOO_LARGE);
    // Deleted or replaced, which has its own notification.
    const handle = await openFolder(inFolder(parent, name)).catch(() => null);
    if (handle === null) return;
    const folder = await open(pathOf(parent, name), handle);
    parent.folders.set(name, folder);
    await readNames(folder, isNew);
  };
  const open = async (path: string, handle: FileHandle): Promise<WatchedFolder> => {
    try {
      const folder = watchFolder(path, handle, onNotice);
      folders.add(folder);
      return folder;
    } catch {
      await handle.close();
      const message = 'No directory watch is available on this machine; stop others and retry';
      throw new HoldfastError('operation_failed', message);
    }
  };
  const readNames = async (folder: WatchedFolder, isNew: boolean): Promise<void> => {
    try {
      for await (const name of namesIn(folder)) {
        const entry = folder === root && tree.skip.has(name) ? null : await look(folder, name);
        if (entry === null || closed || folder.known.has(name)) continue;
        if (isNew) await addEntry(folder, name, entry, false);
        else {
          remember(folder, name, entry);
          if (entry.isDir && tree.recursive) await enter(folder, name, false);
        }
      }
    } catch (error) {
      // Deleted or unreadable folders are skipped.
      if (error instanceof HoldfastError) throw error;
    }
  };

  const release = (folder: WatchedFolder): void => {
    if (!folders.delete(folder)) return;
    entries -= folder.known.size;
    folder.notices.close();
    void folder.handle.close();
    for (const below of folder.folders.values()) release(below);
  };
  const checkRoot = async (): Promise<void> => {
    if ((await tree.handle.stat()).nlink > 0 || closed) return;
    events.push({ type: 'DELETE', path: tree.path, name: tree.path.split('/').at(-1) ?? '', is_dir: true });
    stop('The directory was deleted');
  };
  const stop = (why?: string): void => {
    if (closed) return;
    closed = true;
    clearInterval(rootCheck);
    notices = [];
    events.end(why);
    // Folders in use are released when the current work ends.
    if (working === null) release(root);
  };

  const rootCheck = setInterval(() => {
    // Report its entries first.
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
