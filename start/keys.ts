import { hkdfSync, randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newApiKey } from '../store/api-key-format.ts';
import type { Settings } from './settings.ts';
import { SetupError } from './setup/setup-error.ts';

/** The keys that an installation runs on. */
export interface Keys {
  /** 32 bytes that wrap every organization's data key. */
  masterKey: Buffer;
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
  settings: Pick<Settings, 'dataDir' | 'masterKey' | 'apiKey' | 'browserApiKey'>,
): Promise<Keys> {
  const folder = join(settings.dataDir, 'keys');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(settings.dataDir, 0o700);
  return {
    masterKey: settings.masterKey ?? (await loadMasterKey(join(folder, 'master.key'))),
    apiKey: settings.apiKey ?? (await loadOrMake(join(folder, 'api.key'), newApiKey)),
    browserApiKey:
      settings.browserApiKey ?? (await loadOrMake(join(folder, 'browser.key'), () => randomBytes(32).toString('hex'))),
  };
}

/** Signing codes and tokens of the hosted page; encrypting what Temporal holds; naming workflows of connections. */
export type KeyPurpose = 'hosted-page' | 'temporal-payloads' | 'connection-identity';

/** A key for one purpose, so that no two parts ever use the master key for different things. 32 bytes. */
export function purposeKey(masterKey: Buffer, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `holdfast/${purpose}`, MASTER_KEY_BYTES));
}

async function loadMasterKey(file: string): Promise<Buffer> {
  const text = await loadOrMake(file, () => randomBytes(MASTER_KEY_BYTES).toString('base64'));
  const key = Buffer.from(text, 'base64');
  if (key.length === MASTER_KEY_BYTES) return key;
  throw new SetupError(
    `${file} is not a key of ${MASTER_KEY_BYTES} bytes. Put the right file back (stored secrets cannot be read without ` +
      'it), or remove the data folder to begin anew.',
  );
}

/** The text of a key file, made when it is not there. */
async function loadOrMake(file: string, make: () => string): Promise<string> {
  const present = await readIfThere(file);
  if (present !== undefined) return present;
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${make()}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    // A hard link appears with its whole content or not at all, and never replaces the key of a faster process.
    await link(draft, file);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readIfThere(file);
  if (made === undefined) throw new SetupError(`${file} cannot be read back.`);
  return made;
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
