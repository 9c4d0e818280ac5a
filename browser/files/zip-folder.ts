import { createReadStream, constants } from 'node:fs';
import type { ReadStream, Stats } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { HoldfastError } from '../../contract/errors.ts';
import { withFileErrors } from './file-errors.ts';
import type { ResolvedPath } from './resolve-path.ts';
import { openFolder, procPath } from './resolve-path.ts';
import type { SessionFiles } from './session-files.ts';

/** Most entries of one archive: each costs memory until the archive's end, where they are listed. */
const MAX_ENTRIES = 200_000;
/** Deepest folder: each level is held open while it is walked. */
const MAX_DEPTH = 128;

/** What a walk through a tree has beside the folder it is in. */
interface Walk {
  zip: ZipFile;
  out: PassThrough;
  entries: number;
}

/**
 * A ZIP archive of what a folder holds, made while it is read: one file at a time, at the reader's pace. Links, sockets
 * and other things that are no files are left out, and so is what vanishes before its turn. Rejects when there is no such
 * folder; a later fault destroys the stream, so that nobody takes half an archive for a whole one. Ends when the stream is
 * destroyed.
 */
export function zipFolder(files: SessionFiles, sessionPath: string): Promise<Readable> {
  return new Promise((resolve, reject) => {
    withFileErrors(() =>
      files.at(sessionPath, async (place) => {
        if (place.self() !== '' && place.stats?.isDirectory() !== true) {
          throw new HoldfastError('invalid_request', 'path: not a directory');
        }
        const out = new PassThrough();
        resolve(out);
        await archive(place, out);
      }),
    ).catch((error: unknown) => {
      reject(error instanceof Error ? error : new Error('the archive failed'));
    });
  });
}

async function archive(place: ResolvedPath, out: PassThrough): Promise<void> {
  const zip = new ZipFile();
  const walk: Walk = { zip, out, entries: 0 };
  const fail = (error: unknown): void => void out.destroy(error instanceof Error ? error : undefined);
  zip.on('error', fail);
  // The library's own stream is not the reader's: destroying that one must not leave a pipe half open.
  zip.outputStream.on('error', fail).pipe(out);
  try {
    await addFolder(walk, place.self(), '', 0);
    zip.end();
    await finished(out, { readable: true, writable: false });
  } catch (error) {
    fail(error);
  }
}

async function addFolder(walk: Walk, folder: string, prefix: string, depth: number): Promise<void> {
  if (depth > MAX_DEPTH)
    throw new HoldfastError(
      'operation_failed',
      'The directory is nested too deeply for an archive; archive a part of it',
    );
  for await (const { name } of await opendir(`${folder}/`)) {
    if (walk.out.destroyed) return;
    walk.entries += 1;
    if (walk.entries > MAX_ENTRIES)
      throw new HoldfastError(
        'operation_failed',
        'The directory has too many entries for an archive; archive a part of it',
      );
    await addEntry(walk, `${folder}/${name}`, prefix + nameInArchive(name), depth);
  }
}

async function addEntry(walk: Walk, place: string, name: string, depth: number): Promise<void> {
  const stats = await lstat(place).catch(() => null);
  if (stats?.isDirectory() === true) {
    const handle = await openFolder(place).catch(() => null);
    if (handle === null) return;
    try {
      walk.zip.addEmptyDirectory(name, { mtime: stats.mtime, mode: stats.mode });
      await addFolder(walk, procPath(handle), `${name}/`, depth + 1);
    } finally {
      await handle.close();
    }
  } else if (stats?.isFile() === true) {
    const file = await openFile(place);
    if (file !== null) await addFile(walk, file, name);
  }
}

/** A file and nothing else, though its name may lead elsewhere by now; null when it does. */
async function openFile(place: string): Promise<{ stream: ReadStream; stats: Stats } | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(place, flags).catch(() => null);
  if (handle === null) return null;
  const stats = await handle.stat();
  if (stats.isFile()) return { stream: createReadStream('', { fd: handle }), stats };
  await handle.close();
  return null;
}

async function addFile(
  walk: Walk,
  { stream, stats }: { stream: ReadStream; stats: Stats },
  name: string,
): Promise<void> {
  const stop = (): void => void stream.destroy();
  walk.out.once('close', stop);
  try {
    // No size: a file may grow or shrink while it is read.
    walk.zip.addReadStream(stream, name, { mtime: stats.mtime, mode: stats.mode });
    await finished(stream);
  } catch (error) {
    if (!walk.out.destroyed) throw error;
  } finally {
    walk.out.removeListener('close', stop);
    stream.destroy();
  }
}

/** A backslash would be taken for a separator by whoever unpacks. */
function nameInArchive(name: string): string {
  return name.replaceAll('\\', '_');
}
