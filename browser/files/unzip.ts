import type { Readable } from 'node:stream';
import path from 'node:path';
import type { Entry, ZipFile } from 'yauzl';
import { openPromise } from 'yauzl';
import { HoldfastError } from '../../contract/errors.ts';
import { createFolder } from './change-tree.ts';
import type { SessionFiles } from './session-files.ts';
import type { ReceivedFile } from './write-file.ts';
import { MAX_UPLOAD_BYTES, receiveFile } from './write-file.ts';

/** What one archive may unpack to, where nothing else is said. */
const UNPACKED = { entries: 200_000, bytes: MAX_UPLOAD_BYTES };
/** The part of an entry's attributes that holds Unix permissions and kind, and the kind of a link. */
const UNIX_SHIFT = 16;
const KIND_MASK = 0o170000;
const LINK_KIND = 0o120000;

/**
 * Unpacks a ZIP archive into a folder of the session, which is made when it is missing; files that are there already are
 * replaced. All names are read before anything is changed: links and names that climb (`..`) are refused then. Each name
 * takes the way of any path of the session beside, so that none leads out. Throws `invalid_request` for what is no
 * archive and `payload_too_large` for what unpacks to too much.
 */
export async function unzipInto(
  files: SessionFiles,
  archive: ReceivedFile,
  sessionPath: string,
  limits = UNPACKED,
): Promise<void> {
  await withArchive(archive, (zip) => assertUnpackable(zip, limits));
  await createFolder(files, sessionPath);
  await withArchive(archive, async (zip) => {
    for await (const entry of zip.eachEntry()) {
      const place = path.posix.join(sessionPath, entry.fileName);
      if (entry.fileName.endsWith('/')) {
        await createFolder(files, place);
        continue;
      }
      await createFolder(files, path.posix.dirname(place));
      const content: Readable = await zip.openReadStreamPromise(entry);
      // What an entry says of its size, the library holds it to.
      const file = await receiveFile(files, content);
      await file.put(place, permissionsOf(entry)).finally(() => file.discard());
    }
  });
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
    throw new HoldfastError('invalid_request', 'zip_file: is not a ZIP archive that can be unpacked');
  }
}

async function assertUnpackable(zip: ZipFile, limits: typeof UNPACKED): Promise<void> {
  let entries = 0;
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    entries += 1;
    bytes += entry.uncompressedSize;
    if (entries > limits.entries || bytes > limits.bytes) {
      throw new HoldfastError('payload_too_large', 'zip_file: unpacks to more than a session takes');
    }
    if (isLink(entry)) throw new HoldfastError('invalid_request', 'zip_file: holds a link');
  }
}

function isLink(entry: Entry): boolean {
  return ((entry.externalFileAttributes >>> UNIX_SHIFT) & KIND_MASK) === LINK_KIND;
}

/** As they were when the archive was made; archives of other systems hold none. */
function permissionsOf(entry: Entry): number | undefined {
  const mode = (entry.externalFileAttributes >>> UNIX_SHIFT) & 0o777;
  return mode === 0 ? undefined : mode;
}
