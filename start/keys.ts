import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newApiKey } from '../store/secret-tokens.ts';
import type { Store } from '../store/store.ts';
import { deriveKey } from '../store/vault/master-key.ts';
import type { KeyPurpose } from '../store/vault/installation-keys.ts';
import type { Settings } from './settings.ts';
import { SetupError } from './setup/setup-error.ts';

/** The keys that an installation runs on. */
export interface Keys {
  /** 32 bytes that wrap every organization's data key. */
  masterKey: Buffer;
  /** Former ones, which still open what they wrapped: there are some while a rotation is under way. */
  retiredMasterKeys: Buffer[];
  /** Organization-wide API key. */
  apiKey: string;
  /** What the API and the worker show to our own browser service (or to the one at BROWSER_BASE_URL). */
  browserApiKey: string;
}

const MASTER_KEY_BYTES = 32;

/**
 * Keys from the settings, else from the data folder, where missing ones are made: files of mode 0600, each written whole.
 * Two processes that come at once get the same keys.
 */
export async function loadKeys(
  settings: Pick<Settings, 'dataDir' | 'masterKeys' | 'apiKey' | 'browserApiKey'>,
): Promise<Keys> {
  const folder = join(settings.dataDir, 'keys');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(settings.dataDir, 0o700);
  const [masterKey, ...retiredMasterKeys] = settings.masterKeys ?? (await loadMasterKeys(masterKeyFile(settings)));
  return {
    masterKey,
    retiredMasterKeys,
    apiKey: settings.apiKey ?? (await loadOrMake(join(folder, 'api.key'), newApiKey)),
    browserApiKey:
      settings.browserApiKey ?? (await loadOrMake(join(folder, 'browser.key'), () => randomBytes(32).toString('hex'))),
  };
}

/**
 * A key for one purpose, made from the master key, so that no two parts use one key for different things. 32 bytes. It is
 * the first of its purpose; where keys were rotated, the store has the one in use ({@link sharedKeys}).
 */
export function purposeKey(masterKey: Buffer, purpose: KeyPurpose): Buffer {
  return deriveKey(masterKey, purpose);
}

/** Keys that all processes of an installation share; they stay when the master key changes. */
export interface SharedKeys {
  /** Signs codes and tokens of the hosted page. */
  signingKey: Buffer;
  /** Names the workflows of connections. */
  identityKey: Buffer;
  /** Encrypt what Temporal holds: the newest, then those before it. Read afresh at each call. */
  payloadKeys: () => Promise<Buffer[]>;
}

/** The keys in the store, which keeps those of {@link purposeKey} when it has none. */
export async function sharedKeys(
  { installationKeys }: Pick<Store, 'installationKeys'>,
  keys: Pick<Keys, 'masterKey'>,
): Promise<SharedKeys> {
  const only = async (purpose: 'hosted-page' | 'connection-identity'): Promise<Buffer> => {
    const first = purposeKey(keys.masterKey, purpose);
    await installationKeys.ensure(purpose, first);
    const [key] = await installationKeys.all(purpose);
    return key ?? first;
  };
  await installationKeys.ensure('temporal-payloads', purposeKey(keys.masterKey, 'temporal-payloads'));
  return {
    signingKey: await only('hosted-page'),
    identityKey: await only('connection-identity'),
    payloadKeys: () => installationKeys.all('temporal-payloads'),
  };
}

/** The file of the master keys: one a line, the one that wraps first. */
export function masterKeyFile({ dataDir }: Pick<Settings, 'dataDir'>): string {
  return join(dataDir, 'keys', 'master.key');
}

/** Master keys of a file, which is made with a new one when it is not there. */
export async function loadMasterKeys(file: string): Promise<[Buffer, ...Buffer[]]> {
  const text = await loadOrMake(file, () => randomBytes(MASTER_KEY_BYTES).toString('base64'));
  const [first, ...others] = text.split('\n').map((line) => Buffer.from(line, 'base64'));
  if (first !== undefined && [first, ...others].every((key) => key.length === MASTER_KEY_BYTES))
    return [first, ...others];
  throw new SetupError(
    `${file} is not a key of ${MASTER_KEY_BYTES} bytes. Put the right file back (stored secrets cannot be read without ` +
      'it), or remove the data folder to begin anew',
  );
}

/** Replaces the keys of a file at once: a reader sees the former or these. */
export async function writeMasterKeys(file: string, keys: readonly Buffer[]): Promise<void> {
  const draft = await writeDraft(file, keys.map((key) => key.toString('base64')).join('\n'));
  await rename(draft, file);
}

/** The text of a key file, made when it is not there. */
async function loadOrMake(file: string, make: () => string): Promise<string> {
  const present = await readIfThere(file);
  if (present !== undefined) return present;
  const draft = await writeDraft(file, make());
  try {
    // A hard link appears with its whole content or not at all, and never replaces the key of a faster process.
    await link(draft, file);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readIfThere(file);
  if (made === undefined) throw new SetupError(`${file} cannot be read back; check its rights, then start again`);
  return made;
}

/** A file beside `file`, on the disk with its whole text. */
async function writeDraft(file: string, text: string): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${text}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return draft;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
