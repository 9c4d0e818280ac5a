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

/** Most entries of an archive; each takes memory until the directory at its end is written. */
const MAX_ENTRIES = 200_000;
/** Greatest depth; each level is held open. */
const MAX_DEPTH = 128;

/** State of the walk through the tree. */
interface Walk {
  zip: ZipFile;
  out: PassThrough;
  entries: number;
}

/**
 * Streams a ZIP archive of a folder, one file at a time at the reader's pace. Only files and folders are included; what is deleted
 * before its turn is skipped. Rejects if the folder does not exist; later errors destroy the stream, so that a partial archive
 * is not mistaken for a complete one.
 */
export function zipFolder(files: SessionFiles, sessionPath: string): Promise<Readable> {
  return new Promise((resolve, reject) => {
    withFileErrors(() =>
      files.at(sessionPath, async (place) => {
        place.folder();
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
  // `out` is separate from the library's stream, so that destroying it cannot leave a half-open pipe.
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
  if (depth > MAX_DEPTH) throw tooLarge('is nested too deeply');
  for await (const { name } of await opendir(`${folder}/`)) {
    if (walk.out.destroyed) return;
    walk.entries += 1;
    if (walk.entries > MAX_ENTRIES) throw tooLarge('has too many entries');
    await addEntry(walk, `${folder}/${name}`, prefix + nameInArchive(name), depth);
  }
}

function tooLarge(why: string): HoldfastError {
  return new HoldfastError('operation_failed', `The directory ${why} for an archive; archive a part of it`);
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

/** Opens a file; null if the name is anything else by now. */
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
    // No size: the file may change while it is read.
    walk.zip.addReadStream(stream, name, { mtime: stats.mtime, mode: stats.mode });
    await finished(stream);
  } catch (error) {
    if (!walk.out.destroyed) throw error;
  } finally {
    walk.out.removeListener('close', stop);
    stream.destroy();
  }
}

/** Some extractors treat a backslash as a separator. */
function nameInArchive(name: string): string {
  return name.replaceAll('\\', '_');
}
