import { basename } from 'node:path/posix';
import { packTar, unpackTar, type TarHeader } from 'modern-tar';
import { HoldfastError } from '../../contract/errors.ts';
import { ProfileState } from './state.ts';
import { StorageState, fromStorageState, toStorageState } from './storage-state.ts';

/** Download formats of a profile's state. */
export const STATE_FORMATS = ['tar.zst', 'tar', 'storage_state'] as const;
export type StateFormat = (typeof STATE_FORMATS)[number];

/** The only file of an archive. */
const FILE_NAME = 'profile.json';
/** The magic number of a Zstandard frame (RFC 8878). */
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Frame header descriptor: single segment with an 8-byte content size; no checksum, no dictionary. */
const ZSTD_DESCRIPTOR = 0xe0;
/** Maximum block size, in bytes. */
const ZSTD_BLOCK = 128 * 1024;

/** Serializes a state. */
export async function packState(state: ProfileState, format: StateFormat, now: Date): Promise<Buffer> {
  if (format === 'storage_state') return Buffer.from(JSON.stringify(toStorageState(state)));
  const body = Buffer.from(JSON.stringify(state));
  const header = { name: FILE_NAME, size: body.length, mode: 0o600, mtime: now };
  const tar = Buffer.from(await packTar([{ header, body }]));
  return format === 'tar' ? tar : toZstdFrame(tar);
}

/** Parses an archive of {@link packState} or Playwright's `storageState`. Throws `invalid_request`. */
export async function unpackState(bytes: Buffer): Promise<ProfileState> {
  const state = await parseAny(bytes);
  for (const { origin } of state.origins) {
    if (!isWebOrigin(origin))
      throw invalidBody(`origins must look like https://example.com, not ${origin.slice(0, 100)}`);
  }
  return state;
}

async function parseAny(bytes: Buffer): Promise<ProfileState> {
  const tar = isZstd(bytes) ? readZstdFrame(bytes) : bytes;
  if (tar === null)
    throw invalidBody('the archive was compressed by another program; decompress it with `zstd -d` and send the tar');
  const file = await readTarFile(tar);
  const read: unknown = parseJson(file ?? bytes);
  if (file !== null) {
    const state = ProfileState.safeParse(read);
    if (state.success) return state.data;
    throw invalidBody(`${FILE_NAME} in the archive is not a Holdfast profile; send a downloaded one`);
  }
  const storage = StorageState.safeParse(read);
  if (storage.success) return fromStorageState(storage.data);
  throw invalidBody('send a downloaded profile (tar or tar.zst), or Playwright’s storageState as JSON');
}

/** The profile file in any folder of a tar archive; null if there is none, or the bytes are not a tar archive. */
async function readTarFile(archive: Buffer): Promise<Buffer | null> {
  try {
    const isState = ({ name, type }: TarHeader) => type === 'file' && basename(name) === FILE_NAME;
    const [found] = await unpackTar(archive, { strict: true, filter: isState });
    return found?.data === undefined ? null : Buffer.from(found.data);
  } catch {
    return null;
  }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Restoring storage navigates to the origin, so it must be a website. */
function isWebOrigin(origin: string): boolean {
  return URL.canParse(origin) && /^https?:/.test(origin) && new URL(origin).origin === origin;
}

function invalidBody(rule: string): HoldfastError {
  return new HoldfastError('invalid_request', `body: ${rule}`);
}

function isZstd(bytes: Buffer): boolean {
  return bytes.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC);
}

/**
 * A Zstandard frame of raw blocks, which every decompressor reads. It is not compressed, because not every Node version that
 * Holdfast supports has a compressor.
 */
function toZstdFrame(content: Buffer): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(content.length));
  const parts: Buffer[] = [ZSTD_MAGIC, Buffer.from([ZSTD_DESCRIPTOR]), size];
  for (let at = 0; at === 0 || at < content.length; at += ZSTD_BLOCK) {
    const block = content.subarray(at, at + ZSTD_BLOCK);
    const isLast = at + ZSTD_BLOCK >= content.length;
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | (isLast ? 1 : 0), 0, 3);
    parts.push(header, block);
  }
  return Buffer.concat(parts);
}

/** The content of a frame of {@link toZstdFrame}; null for any other frame, including compressed ones. */
function readZstdFrame(frame: Buffer): Buffer | null {
  let at = ZSTD_MAGIC.length + 1 + 8;
  if (!isZstd(frame) || frame[ZSTD_MAGIC.length] !== ZSTD_DESCRIPTOR) return null;
  const blocks: Buffer[] = [];
  while (at + 3 <= frame.length) {
    const header = frame.readUIntLE(at, 3);
    const block = frame.subarray(at + 3, at + 3 + (header >> 3));
    if ((header & 0b110) !== 0 || block.length !== header >> 3) return null;
    blocks.push(block);
    at += 3 + block.length;
    if ((header & 1) === 1) return Buffer.concat(blocks);
  }
  return null;
}
