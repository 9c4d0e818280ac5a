import path from 'node:path';
import type { Entry, ZipFile } from 'yauzl';
import { HoldfastError } from '../../contract/errors.ts';
import { MAX_UPLOAD_BYTES } from './write-file.ts';

/** What one archive may unpack to, where nothing else is said. */
export const UNPACKED = { entries: 200_000, bytes: MAX_UPLOAD_BYTES };
/** Longest name of a file or folder, in bytes, and deepest place of one: what the system takes. */
const MAX_NAME_BYTES = 255;
const MAX_DEPTH = 128;
/** The part of an entry's attributes that holds Unix permissions and kind, and the kind of a link. */
const UNIX_SHIFT = 16;
const KIND_MASK = 0o170000;
const LINK_KIND = 0o120000;

/**
 * Reads what an archive says of itself: names (the library refuses those that climb), kinds and sizes. Throws
 * `invalid_request` for links and for names that cannot be together, `payload_too_large` for what says that it unpacks to
 * too much.
 */
export async function assertUnpackable(zip: ZipFile, limits: typeof UNPACKED): Promise<void> {
  const files = new Set<string>();
  const folders = new Set<string>();
  let entries = 0;
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    entries += 1;
    bytes += entry.uncompressedSize;
    if (entries > limits.entries || bytes > limits.bytes) {
      throw new HoldfastError('payload_too_large', 'zip_file: exceeds the size limit when extracted');
    }
    if (isLink(entry)) throw new HoldfastError('invalid_request', 'zip_file: must not contain links');
    assertName(entry.fileName);
    const place = path.posix.join('/', entry.fileName);
    if (isFolder(entry)) folders.add(place.slice(0, -1));
    else files.add(place);
    addFoldersOn(place, folders);
  }
  for (const file of files) {
    if (folders.has(file)) {
      throw new HoldfastError('invalid_request', 'zip_file: contains a file and a directory with the same name');
    }
  }
}

/** Whether an entry is a folder: its name says so. */
export function isFolder({ fileName }: Entry): boolean {
  return fileName.endsWith('/');
}

/** As they were when the archive was made; archives of other systems hold none. */
export function permissionsOf(entry: Entry): number | undefined {
  const mode = (entry.externalFileAttributes >>> UNIX_SHIFT) & 0o777;
  return mode === 0 ? undefined : mode;
}

function isLink(entry: Entry): boolean {
  return ((entry.externalFileAttributes >>> UNIX_SHIFT) & KIND_MASK) === LINK_KIND;
}

function assertName(name: string): void {
  const parts = name.split('/');
  const isBad = parts.length > MAX_DEPTH || parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES);
  if (isBad || name.includes('\0')) {
    throw new HoldfastError('invalid_request', 'zip_file: contains an invalid file name');
  }
}

/** The folders that a place lies in, up to the first that is known. */
function addFoldersOn(place: string, folders: Set<string>): void {
  for (let folder = path.posix.dirname(place); folder !== '/'; folder = path.posix.dirname(folder)) {
    if (folders.has(folder) && folders.has(path.posix.dirname(folder))) return;
    folders.add(folder);
  }
}
