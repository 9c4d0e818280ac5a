import path from 'node:path';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import { openPromise } from 'yauzl';
import { HoldfastError } from '../../contract/errors.ts';
import { assertUnpackable, isFolder, permissionsOf, UNPACKED } from './archive-check.ts';
import { createFolder } from './change-tree.ts';
import { withFieldName } from './file-errors.ts';
import { createRoom } from './room.ts';
import type { SessionFiles } from './session-files.ts';
import type { ReceivedFile } from './write-file.ts';
import { receiveFile } from './write-file.ts';

/** A folder of an archive, or a file of it that was unpacked and has no place yet. */
interface Unpacked {
  place: string;
  file: ReceivedFile | null;
  mode: number | undefined;
}

/**
 * Unpacks a ZIP archive into a folder of the session, which is made when it is missing; files that are there already are
 * replaced. A bad archive changes nothing: all of it is unpacked into the private folder and checked (names, sizes,
 * checksums), then every place is looked at, and only then does each file get its place, by the way of any path of the
 * session, so that no name leads out. Throws `invalid_request` for what is no archive and `payload_too_large` for what
 * unpacks to too much.
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
    await withFieldName('dest_path', () => assertRoom(files, sessionPath, unpacked));
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
  // What an entry says of its size, the library holds it to.
  const content: Readable = await zip.openReadStreamPromise(entry);
  const checked = content.pipe(sameAs(entry.crc32));
  content.once('error', (error) => checked.destroy(error));
  // Whoever stops reading has stopped for good.
  checked.once('close', () => content.destroy());
  return receiveFile(files, checked);
}

async function assertRoom(files: SessionFiles, sessionPath: string, unpacked: readonly Unpacked[]): Promise<void> {
  const room = createRoom(files);
  await room.forFolder(sessionPath);
  for (const { place, file } of unpacked) {
    await (file === null ? room.forFolder(place.replace(/\/+$/, '')) : room.forFile(place));
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
    // What the library and the decompression find wrong is the archive's fault; faults of the system are not.
    if (error instanceof HoldfastError || (error instanceof Error && 'syscall' in error)) throw error;
    throw new HoldfastError('invalid_request', 'zip_file: not a valid ZIP archive');
  }
}

/** Fails at the end of what has another checksum: the library does not look at it. */
function sameAs(expected: number): Transform {
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
