import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, readlink } from 'node:fs/promises';
import { HoldfastError } from '../../contract/errors.ts';

/** Opens a name without opening what it names: no device wakes up, no FIFO waits (open(2)). Node does not name it. */
const O_PATH = 0o10000000;
/** Most links that one path may lead through: the kernel's own limit. */
const MAX_LINKS = 40;

/** A place in a session's root. Held open until it is disposed of: what it leads to cannot be exchanged meanwhile. */
export interface ResolvedPath {
  /** Of the folder that holds it, as a path of this process; names in it are reached by `in`. */
  in(name: string): string;
  /** Its name there; null for the root itself, which nothing may replace. */
  name: string | null;
  /** Where it is in the session, links resolved. */
  path: string;
  /** What is there; null when nothing is. */
  stats: Stats | null;
  /** The thing itself, whatever its name leads to by now, as a path of this process. Throws when nothing is there. */
  self(): string;
  close(): Promise<void>;
}

/** How a path is followed. */
interface ResolveOptions {
  root: string;
  /** Names at the top that belong to the machine. */
  systemFolders: ReadonlySet<string>;
  /** False: a link at the end of the path is the place itself. */
  followLast: boolean;
}

interface Step {
  handle: FileHandle;
  name: string;
}

/**
 * Follows a path of a session without ever leaving its root, whatever processes do to the tree at the same time.
 *
 * Node has no openat2(2) with RESOLVE_IN_ROOT, and a check before an open would be a race. So each name is opened in the
 * folder that is held open already (`/proc/self/fd/N/name`), never following a link; links are read and followed here, an
 * absolute one from the session's root, and `..` goes back along the folders that were passed, not by the kernel. Files
 * operations thus need no process of their own, work where no sandbox does, and stream without a copy in between.
 * (A process in the sandbox for each operation would be as safe, and cost 30 ms and a program inside.)
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
        throw new HoldfastError(
          'forbidden',
          `path: /${name} is the machine’s; processes read it, files operations do not`,
        );
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
  return {
    in: (entry) => inFolder(folder, entry),
    name,
    path: path === '' ? '/' : path,
    stats,
    self: () => {
      if (self === null) throw new HoldfastError('not_found', 'path: no such file or directory in the session');
      return procPath(self);
    },
    close: async () => {
      await Promise.all([...handles].map((handle) => handle.close()));
    },
  };
}

/** Holds a folder open by its name in one that is held open already. Rejects when it is something else by now. */
export function openFolder(place: string): Promise<FileHandle> {
  return open(place, O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY);
}

function openPath(place: string): Promise<FileHandle> {
  return open(place, O_PATH | constants.O_NOFOLLOW);
}

function inFolder(folder: FileHandle, name: string): string {
  return `${procPath(folder)}/${name}`;
}

/** What is held open, whatever its name leads to by now, as a path of this process. */
export function procPath(handle: FileHandle): string {
  return `/proc/self/fd/${String(handle.fd)}`;
}

/** The names on a path. `..` is one of them: it goes back along links too. */
export function namesOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function top(steps: Step[]): Step {
  const last = steps.at(-1);
  if (last === undefined) throw new Error('a walk without its root');
  return last;
}

async function closeAll(steps: Step[]): Promise<void> {
  await Promise.all(steps.map(({ handle }) => handle.close()));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
