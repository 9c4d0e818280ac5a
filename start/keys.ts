import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newApiKey } from '../store/secret-tokens.ts';
import type { Store } from '../store/store.ts';
import { deriveKey } from '../store/vault/master-key.ts';
import type { KeyPurpose } from '../store/vault/installation-keys.ts';
import type { Settings } from './settings.ts';
import { SetupError } from './setup/setup-error.ts';

/** The keys of an installation. */
export interface Keys {
  /** 32 bytes that wrap every organization's data key. */
  masterKey: Buffer;
  /** Former master keys, which still unwrap keys during a rotation. */
  retiredMasterKeys: Buffer[];
  /** Organization-wide API key. */
  apiKey: string;
  /** The key of the API and the worker for the browser service. */
  browserApiKey: string;
}

const MASTER_KEY_BYTES = 32;

/**
 * The keys from the settings, else from the data folder, where missing ones are created as files of mode 0600, written
 * atomically. Concurrent processes get the same keys.
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
    apiKey: settings.apiKey ?? (await loadOrCreate(join(folder, 'api.key'), newApiKey)),
    browserApiKey:
      settings.browserApiKey ??
      (await loadOrCreate(join(folder, 'browser.key'), () => randomBytes(32).toString('hex'))),
  };
}

/**
 * The initial 32-byte key of a purpose, derived from the master key, so that no key serves two purposes. After a rotation the
 * store has the active one ({@link sharedKeys}).
 */
export function purposeKey(masterKey: Buffer, purpose: KeyPurpose): Buffer {
  return deriveKey(masterKey, purpose);
}

/** Keys shared by all processes of an installation. They survive a change of the master key. */
export interface SharedKeys {
  /** Signs codes and tokens of the hosted page. */
  signingKey: Buffer;
  /** Names the workflows of connections. */
  identityKey: Buffer;
  /** Encrypt Temporal payloads: the active key, then former ones. Read from the store on each call. */
  payloadKeys: () => Promise<Buffer[]>;
}

/** Loads the keys from the store, which is initialized with those of {@link purposeKey}. */
export async function sharedKeys(
  { installationKeys }: Pick<Store, 'installationKeys'>,
  keys: Pick<Keys, 'masterKey'>,
): Promise<SharedKeys> {
  const load = async (purpose: 'hosted-page' | 'connection-identity'): Promise<Buffer> => {
    const first = purposeKey(keys.masterKey, purpose);
    await installationKeys.ensure(purpose, first);
    const [key] = await installationKeys.all(purpose);
    return key ?? first;
  };
  await installationKeys.ensure('temporal-payloads', purposeKey(keys.masterKey, 'temporal-payloads'));
  return {
    signingKey: await load('hosted-page'),
    identityKey: await load('connection-identity'),
    payloadKeys: () => installationKeys.all('temporal-payloads'),
  };
}

/** The file of the master keys: one per line, the wrapping key first. */
export function masterKeyFile({ dataDir }: Pick<Settings, 'dataDir'>): string {
  return join(dataDir, 'keys', 'master.key');
}

/** Loads the master keys of a file, which is created with a new key if missing. */
export async function loadMasterKeys(file: string): Promise<[Buffer, ...Buffer[]]> {
  const text = await loadOrCreate(file, () => randomBytes(MASTER_KEY_BYTES).toString('base64'));
  const [first, ...others] = text.split('\n').map((line) => Buffer.from(line, 'base64'));
  if (first !== undefined && [first, ...others].every((key) => key.length === MASTER_KEY_BYTES))
    return [first, ...others];
  throw new SetupError(
    `${file} is not a key of ${MASTER_KEY_BYTES} bytes. Restore the right file (stored secrets cannot be read without ` +
      'it), or remove the data folder to start over',
  );
}

/** Atomically replaces the keys of a file. */
export async function writeMasterKeys(file: string, keys: readonly Buffer[]): Promise<void> {
  const draft = await writeDraft(file, keys.map((key) => key.toString('base64')).join('\n'));
  await rename(draft, file);
}

/** Reads a key file, which is created if missing. */
async function loadOrCreate(file: string, create: () => string): Promise<string> {
  const present = await readIfExists(file);
  if (present !== undefined) return present;
  const draft = await writeDraft(file, create());
  try {
    // A hard link appears with its complete content, and never replaces the key of a faster process.
    await link(draft, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const created = await readIfExists(file);
  if (created === undefined) throw new SetupError(`${file} cannot be read; check its permissions, then start again`);
  return created;
}

/** Writes and syncs a temporary file next to `file`. */
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

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
