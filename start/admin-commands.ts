import { randomBytes } from 'node:crypto';
import { makeSignInCode } from '../store/administrator.ts';
import { DEFAULT_ORGANIZATION_ID, type Store } from '../store/store.ts';
import { openStore } from './backends.ts';
import { loadKeys, loadMasterKeys, masterKeyFile, sharedKeys, writeMasterKeys, type Keys } from './keys.ts';
import { parseSettings, type Settings } from './settings.ts';
import { SetupError } from './setup/setup-error.ts';
import { say } from './terminal.ts';

/** Pause between two passes of a rotation, in milliseconds: former data keys are deleted a minute after their last use. */
const ROTATION_PASS_EVERY_MS = 10_000;

/** `npm run sign-in [-- <email>]`: prints a single-use sign-in link for the user with that address, else for the first administrator. */
export async function printSignInLink(): Promise<void> {
  const settings = parseSettings();
  await withStore(settings, await loadKeys(settings), async (store) => {
    const email = process.argv[2]?.trim().toLowerCase();
    const code = await makeSignInCode(store, DEFAULT_ORGANIZATION_ID, email);
    if (code === null) throw new SetupError('No user has this email address; omit it for the first administrator');
    say(`Open this link within the hour; it works once:\n\n  ${consoleLink(settings, code)}\n`);
  });
}

/** The sign-in link of the first administrator; null if an owner can sign in by other means. */
export function firstSignInLink(settings: Settings, keys: Keys): Promise<string | null> {
  return withStore(settings, keys, async (store) => {
    if (await store.memberships.hasReachableOwner(DEFAULT_ORGANIZATION_ID)) return null;
    const code = await makeSignInCode(store, DEFAULT_ORGANIZATION_ID);
    return code === null ? null : consoleLink(settings, code);
  });
}

/** The code is in the fragment, which browsers do not send: it appears in no log of a server or proxy. */
function consoleLink({ publicUrl }: Pick<Settings, 'publicUrl'>, code: string): string {
  return `${publicUrl}/console#code=${code}`;
}

/** `npm run audit -- verify`: reports whether a row of the audit log was changed or removed since it was written. */
export async function verifyAudit(): Promise<void> {
  if (process.argv[2] !== 'verify') throw new SetupError('Unknown command; use npm run audit -- verify');
  const settings = parseSettings();
  await withStore(settings, await loadKeys(settings), async (store) => {
    const { rows, broken } = await store.auditLog.verify();
    if (broken === null) {
      say(`All ${rows} rows are unchanged, and none between them is missing.`);
      return;
    }
    const fault =
      broken.fault === 'changed' ? 'was changed or inserted by someone else' : 'does not follow its predecessor';
    throw new SetupError(`Row ${broken.seq} of audit_log ${fault}; the ${rows} rows before it are intact`);
  });
}

/**
 * `npm run keys -- rotate`: rotates the master key, every organization's data key and the key of Temporal payloads, while
 * everything runs. Called again after an interruption, it resumes.
 */
export async function rotateKeys(): Promise<void> {
  if (process.argv[2] !== 'rotate') throw new SetupError('Unknown command; use npm run keys -- rotate');
  const settings = parseSettings();
  const keys = await startRotation(settings);
  await withStore(settings, keys, async (store) => {
    for (let pass = 1; ; pass += 1) {
      const { resealed, rewrapped, broken, finished } = await store.rotateAllKeys();
      say(
        `Pass ${pass}: ${rewrapped} keys wrapped with the new master key, ${resealed} values sealed with new data keys`,
      );
      for (const { table, column, rowId } of broken) say(`  ${table}.${column} of ${rowId} cannot be opened`);
      if (broken.length > 0)
        throw new SetupError('Values that cannot be opened block the rotation; delete those rows, then run this again');
      if (finished) break;
      await new Promise((resolve) => setTimeout(resolve, ROTATION_PASS_EVERY_MS));
    }
    // Rewraps keys created under the former master key during the last pass.
    await store.rotateMasterKey();
  });
  if (settings.masterKeys === undefined) await writeMasterKeys(masterKeyFile(settings), [keys.masterKey]);
  else say('Now remove the former master keys from HOLDFAST_MASTER_KEY and restart each process');
  say('All keys are rotated.');
}

/** Puts a new master key before the former ones, unless a rotation is in progress. */
async function startRotation(settings: Settings): Promise<Keys> {
  const keys = await loadKeys(settings);
  if (keys.retiredMasterKeys.length > 0) return keys;
  if (settings.masterKeys !== undefined) {
    throw new SetupError(
      'HOLDFAST_MASTER_KEY contains one key; set it to "former,new" in each process, then to "new,former", then run this again',
    );
  }
  // Keys derived from the master key must be stored before it changes.
  await withStore(settings, keys, (store) => sharedKeys(store, keys));
  const file = masterKeyFile(settings);
  await writeMasterKeys(file, [randomBytes(32), ...(await loadMasterKeys(file))]);
  return loadKeys(settings);
}

async function withStore<Result>(
  settings: Settings,
  keys: Keys,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(settings, keys);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
