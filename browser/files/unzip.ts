import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import { openPromise } from 'yauzl';
import { HoldfastError } from '../../contract/errors.ts';
import { assertUnpackable, isFolder, permissionsOf, UNPACKED } from './archive-check.ts';
import { createFolder } from './change-tree.ts';
import { withFieldName, withFileErrors } from './file-errors.ts';
import type { ResolvedPath } from './resolve-path.ts';
import type { SessionFiles } from './session-files.ts';
import type { ReceivedFile } from './write-file.ts';
import { receiveFile } from './write-file.ts';

/** A folder of an archive, or an extracted file that was not moved to its place yet. */
interface Unpacked {
  place: string;
  file: ReceivedFile | null;
  mode: number | undefined;
}

/**
 * Extracts a ZIP archive into a folder of the session, created if missing, and replaces existing files. A bad archive changes
 * nothing: everything is extracted to the private folder and checked (names, sizes, checksums, destinations) before the first
 * file is moved to its place. Throws `invalid_request` for an invalid archive, `payload_too_large` for one that extracts to too
 * much.
 */
export async function unzipInto(
  files: SessionFiles,
  archive: ReceivedFile,
  sessionPath: string,
  limits = UNPACKED,
): Promise<void> {
  const unpacked: Unpacked[] = [];
  try {
    await withArchive(archive, (zip) => assertUnpackable(zip, limits));
    await withArchive(archive, async (zip) => {
      for await (const entry of zip.eachEntry()) {
        const place = `${sessionPath}/${entry.fileName}`;
        const file = isFolder(entry) ? null : await unpack(files, zip, entry);
        unpacked.push({ place, file, mode: permissionsOf(entry) });
      }
    });
    await withFieldName('dest_path', () => preflight(files, sessionPath, unpacked));
    await createFolder(files, sessionPath);
    for (const { place, file, mode } of unpacked) {
      await createFolder(files, file === null ? place : path.posix.dirname(place));
      await file?.put(place, mode);
    }
  } finally {
    for (const { file } of unpacked) await file?.discard();
  }
}

async function unpack(files: SessionFiles, zip: ZipFile, entry: Entry): Promise<ReceivedFile> {
  // The library enforces the entry's declared size.
  const content: Readable = await zip.openReadStreamPromise(entry);
  const checked = content.pipe(verifyChecksum(entry.crc32));
  content.once('error', (error) => checked.destroy(error));
  checked.once('close', () => content.destroy());
  return receiveFile(files, checked);
}

async function preflight(files: SessionFiles, sessionPath: string, unpacked: readonly Unpacked[]): Promise<void> {
  const { assertFolder, assertFile } = createPreflight(files);
  await assertFolder(sessionPath);
  for (const { place, file } of unpacked) {
    await (file === null ? assertFolder(place.replace(/\/+$/, '')) : assertFile(place));
  }
}

async function withArchive(archive: ReceivedFile, action: (zip: ZipFile) => Promise<void>): Promise<void> {
  try {
    const zip = await openPromise(archive.file, { lazyEntries: true, autoClose: false });
    try {
      await action(zip);
    } finally {
      zip.close();
    }
  } catch (error) {
    // Errors of the library and the decompression are the archive's fault; system errors are not.
    if (error instanceof HoldfastError || (error instanceof Error && 'syscall' in error)) throw error;
    throw new HoldfastError('invalid_request', 'zip_file: not a valid ZIP archive');
  }
}

/** Fails at the end if the checksum differs; the library does not check it. */
function verifyChecksum(expected: number): Transform {
  let sum = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      sum = crc32(piece, sum);
      done(null, piece);
    },
    flush(done) {
      done(sum === expected ? null : new HoldfastError('invalid_request', 'zip_file: an entry is corrupt'));
    },
  });
}

/**
 * Checks whether folders and files could be created, without changing anything, so that an archive is not half extracted when its
 * last entry is bound to fail. Looks at each folder once; later changes by processes are not seen.
 */
function createPreflight(files: SessionFiles) {
  /** Checked folders, and whether they exist. */
  const checked = new Map<string, Promise<boolean>>();

  const folderExists = (folder: string): Promise<boolean> => {
    const found = checked.get(folder) ?? lookUp(folder);
    checked.set(folder, found);
    return found;
  };
  const lookUp = async (folder: string): Promise<boolean> => {
    if (folder !== '/' && !(await folderExists(path.posix.dirname(folder)))) return false;
    return withFileErrors(() => files.at(folder, (place) => Promise.resolve(folderExistsAt(place))));
  };
  /** The deepest existing folder must be writable. */
  const assertWritable = async (folder: string): Promise<void> => {
    if (!(await folderExists(folder))) return assertWritable(path.posix.dirname(folder));
    await withFileErrors(() => files.at(folder, (place) => access(place.self(), constants.W_OK | constants.X_OK)));
  };

  return {
    assertFolder: async (folder: string): Promise<void> => {
      if (!(await folderExists(folder))) await assertWritable(folder);
    },
    assertFile: async (file: string): Promise<void> => {
      const folder = path.posix.dirname(file);
      await assertWritable(folder);
      if (await folderExists(folder)) await withFileErrors(() => files.at(file, assertNotFolder));
    },
  };
}

/** Throws `invalid_request` for a file. */
function folderExistsAt({ stats }: ResolvedPath): boolean {
  if (stats?.isDirectory() === false) {
    throw new HoldfastError('invalid_request', 'path: a parent is not a directory');
  }
  return stats !== null;
}

function assertNotFolder({ name, stats }: ResolvedPath): Promise<void> {
  if (name !== null && stats?.isDirectory() !== true) return Promise.resolve();
  throw new HoldfastError('invalid_request', 'path: is a directory');
}
