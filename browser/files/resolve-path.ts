import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, readlink } from 'node:fs/promises';
import { HoldfastError } from '../../contract/errors.ts';

/** Opens a name but not its target, so that devices and FIFOs have no effect (open(2)). Missing in Node's constants. */
const O_PATH = 0o10000000;
/** Most links in one path, as of the kernel. */
const MAX_LINKS = 40;

/** A path in a session's root, held open until `close`, so that it cannot be swapped. */
export interface ResolvedPath {
  /** Path, for this process, of a name in the parent folder. */
  in(name: string): string;
  /** Its name in the parent folder; null for the root itself, which cannot be replaced. */
  name: string | null;
  /** Its path in the session, links resolved. */
  path: string;
  /** Null if nothing exists at the path. */
  stats: Stats | null;
  /** Path, for this process, of the entry itself, whatever its name refers to by now. Throws `not_found`. */
  self(): string;
  /** The same for a folder. Throws `not_found`, or `invalid_request` for anything else. */
  folder(): string;
  close(): Promise<void>;
}

interface ResolveOptions {
  root: string;
  /** Names of top-level folders that belong to the machine. */
  systemFolders: ReadonlySet<string>;
  /** Whether to follow a link at the end of the path. */
  followLast: boolean;
}

interface Step {
  handle: FileHandle;
  name: string;
}

/**
 * Resolves a path of a session without ever leaving its root, whatever processes do to the tree meanwhile.
 *
 * Node has no openat2(2) with RESOLVE_IN_ROOT, and checking before opening would be a race. So each name is opened in its parent
 * folder, which is already open (`/proc/self/fd/N/name`), without following links. Links are read and resolved here, absolute
 * ones from the session's root, and `..` returns along the folders passed. (A sandboxed process per operation would be as
 * safe, but cost 30 ms, and need a sandbox and a program inside it.)
 */
export async function resolvePath(sessionPath: string, options: ResolveOptions): Promise<ResolvedPath> {
  const { systemFolders, followLast } = options;
  const steps: Step[] = [{ handle: await openPath(options.root), name: '' }];
  let pending = namesOf(sessionPath);
  let links = 0;
  try {
    for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
      if (name === '..') {
        if (steps.length > 1) await steps.pop()?.handle.close();
        continue;
      }
      if (steps.length === 1 && systemFolders.has(name)) {
        throw new HoldfastError('forbidden', `path: /${name} belongs to the machine; only processes can read it`);
      }
      const folder = top(steps).handle;
      const opened = await openPath(inFolder(folder, name)).catch((error: unknown) => {
        if (isMissing(error) && pending.length === 0) return null;
        throw error;
      });
      if (opened === null) return toResolvedPath(steps, name, null, null);
      const stats = await opened.stat();
      if (stats.isSymbolicLink() && (followLast || pending.length > 0)) {
        await opened.close();
        links += 1;
        if (links > MAX_LINKS) throw new HoldfastError('invalid_request', 'path: too many symbolic links');
        const target = await readlink(inFolder(folder, name));
        if (target.startsWith('/')) await closeAll(steps.splice(1));
        pending = [...namesOf(target), ...pending];
      } else if (stats.isDirectory()) {
        steps.push({ handle: opened, name });
      } else if (pending.length === 0) {
        return toResolvedPath(steps, name, opened, stats);
      } else {
        await opened.close();
        throw new HoldfastError('invalid_request', 'path: a parent is not a directory');
      }
    }
    const self = top(steps);
    const stats = await self.handle.stat();
    if (steps.length === 1) return toResolvedPath(steps, null, self.handle, stats);
    steps.pop();
    return toResolvedPath(steps, self.name, self.handle, stats);
  } catch (error) {
    await closeAll(steps);
    throw error;
  }
}

function toResolvedPath(
  steps: Step[],
  name: string | null,
  self: FileHandle | null,
  stats: Stats | null,
): ResolvedPath {
  const folder = top(steps).handle;
  const path = [...steps.map((step) => step.name), ...(name === null ? [] : [name])].join('/');
  const handles = new Set([...steps.map((step) => step.handle), ...(self === null ? [] : [self])]);
  const existing = (): string => {
    if (self === null) throw new HoldfastError('not_found', 'path: no such file or directory in the session');
    return procPath(self);
  };
  return {
    in: (entry) => inFolder(folder, entry),
    name,
    path: path === '' ? '/' : path,
    stats,
    self: existing,
    folder: () => {
      const folderPath = existing();
      if (stats?.isDirectory() !== true) throw new HoldfastError('invalid_request', 'path: not a directory');
      return folderPath;
    },
    close: async () => {
      await Promise.all([...handles].map((handle) => handle.close()));
    },
  };
}

/** Opens a folder by its name in an open one. Rejects if the name is something else by now. */
export function openFolder(place: string): Promise<FileHandle> {
  return open(place, O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY);
}

function openPath(place: string): Promise<FileHandle> {
  return open(place, O_PATH | constants.O_NOFOLLOW);
}

function inFolder(folder: FileHandle, name: string): string {
  return `${procPath(folder)}/${name}`;
}

/** Path, for this process, of an open file, whatever its name refers to by now. */
export function procPath(handle: FileHandle): string {
  return `/proc/self/fd/${String(handle.fd)}`;
}

/** The segments of a path, including `..`. */
export function namesOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function top(steps: Step[]): Step {
  const last = steps.at(-1);
  if (last === undefined) throw new Error('the path stack is empty');
  return last;
}

async function closeAll(steps: Step[]): Promise<void> {
  await Promise.all(steps.map(({ handle }) => handle.close()));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
