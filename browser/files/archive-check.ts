import path from 'node:path';
import type { Entry, ZipFile } from 'yauzl';
import { HoldfastError } from '../../contract/errors.ts';
import { MAX_UPLOAD_BYTES } from './write-file.ts';

/** Default limits on what an archive extracts to. */
export const UNPACKED = { entries: 200_000, bytes: MAX_UPLOAD_BYTES };
/** Longest name of a file or folder, in bytes, and greatest depth, as of the system. */
const MAX_NAME_BYTES = 255;
const MAX_DEPTH = 128;
/** Unix mode within an entry's attributes, its file type bits, and the type of a symbolic link. */
const UNIX_SHIFT = 16;
const KIND_MASK = 0o170000;
const LINK_KIND = 0o120000;

/**
 * Checks the names, types and declared sizes of an archive's entries; the library itself rejects names with `..`. Throws
 * `invalid_request` for links and conflicting names, `payload_too_large` beyond the limits.
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
    addParents(place, folders);
  }
  for (const file of files) {
    if (folders.has(file)) {
      throw new HoldfastError('invalid_request', 'zip_file: contains a file and a directory with the same name');
    }
  }
}

/** Whether an entry is a folder, by its name. */
export function isFolder({ fileName }: Entry): boolean {
  return fileName.endsWith('/');
}

/** Unix permissions of an entry; undefined in archives of other systems. */
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

/** Adds the parent folders of a path, up to the first known one. */
function addParents(place: string, folders: Set<string>): void {
  for (let folder = path.posix.dirname(place); folder !== '/'; folder = path.posix.dirname(folder)) {
    if (folders.has(folder) && folders.has(path.posix.dirname(folder))) return;
    folders.add(folder);
  }
}
