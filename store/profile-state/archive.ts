import { basename } from 'node:path/posix';
import { packTar, unpackTar, type TarHeader } from 'modern-tar';
import { HoldfastError } from '../../contract/errors.ts';
import { ProfileState } from './state.ts';
import { StorageState, stateOfStorage, storageStateOf } from './storage-state.ts';
import { isZstd, readZstdFrame, zstdFrame } from './zstd-frame.ts';

/** How a profile's state leaves Holdfast. */
export const STATE_FORMATS = ['tar.zst', 'tar', 'storage_state'] as const;
export type StateFormat = (typeof STATE_FORMATS)[number];

/** The one file of an archive. */
const FILE_NAME = 'profile.json';

/** A state in a format, in bytes. */
export async function packState(state: ProfileState, format: StateFormat, now: Date): Promise<Buffer> {
  if (format === 'storage_state') return Buffer.from(JSON.stringify(storageStateOf(state)));
  const body = Buffer.from(JSON.stringify(state));
  const header = { name: FILE_NAME, size: body.length, mode: 0o600, mtime: now };
  const tar = Buffer.from(await packTar([{ header, body }]));
  return format === 'tar' ? tar : zstdFrame(tar);
}

/** The state that was packed by {@link packState}, or that Playwright has written. Throws `invalid_request`. */
export async function unpackState(bytes: Buffer): Promise<ProfileState> {
  const state = await readAny(bytes);
  for (const { origin } of state.origins) {
    if (!isWebOrigin(origin)) throw refuse(`origins must be such as https://example.com, not ${origin.slice(0, 100)}`);
  }
  return state;
}

async function readAny(bytes: Buffer): Promise<ProfileState> {
  const tar = isZstd(bytes) ? readZstdFrame(bytes) : bytes;
  if (tar === null)
    throw refuse('this archive was compressed by another program; unpack it by `zstd -d` and send the tar');
  const file = await fileInTar(tar);
  const read: unknown = parseJson(file ?? bytes);
  if (file !== null) {
    const state = ProfileState.safeParse(read);
    if (state.success) return state.data;
    throw refuse(`${FILE_NAME} in the archive is no profile of Holdfast`);
  }
  const storage = StorageState.safeParse(read);
  if (storage.success) return stateOfStorage(storage.data);
  throw refuse('send a downloaded profile (tar or tar.zst), or Playwright’s storageState as JSON');
}

/** The file of that name, whatever folder it lies in; null when there is none such, or the bytes are no tar archive. */
async function fileInTar(archive: Buffer): Promise<Buffer | null> {
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

/** What a browser is led to when its storage is restored is a site, and nothing else. */
function isWebOrigin(origin: string): boolean {
  return URL.canParse(origin) && /^https?:/.test(origin) && new URL(origin).origin === origin;
}

function refuse(rule: string): HoldfastError {
  return new HoldfastError('invalid_request', `body: ${rule}`);
}
