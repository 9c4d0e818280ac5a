import { randomBytes } from 'node:crypto';
import { openStore } from './connections.ts';
import { loadKeys, loadMasterKeys, masterKeyFile, sharedKeys, writeMasterKeys } from './keys.ts';
import type { Keys } from './keys.ts';
import { parseSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { SetupError } from './setup/setup-error.ts';
import { say } from './terminal.ts';

/** Pause between two passes, in milliseconds: former data keys go a minute after nobody seals under them any more. */
const PASS_EVERY_MS = 10_000;

/**
 * `npm run keys -- rotate`: changes the master key, every organization's data key and the key of the payloads in Temporal,
 * while everything runs. Called again after a kill it goes on where it was.
 */
export async function rotateKeys(): Promise<void> {
  if (process.argv[2] !== 'rotate') throw new SetupError('Unknown command; use npm run keys -- rotate');
  const settings = parseSettings();
  const keys = await startRotation(settings);
  const store = await openStore(settings, keys);
  try {
    for (let pass = 1; ; pass += 1) {
      const { resealed, rewrapped, broken, finished } = await store.rotateAllKeys();
      say(`Pass ${pass}: ${rewrapped} keys wrapped by the new master key, ${resealed} values sealed by new data keys`);
      for (const { table, column, rowId } of broken) say(`  ${table}.${column} of ${rowId} cannot be opened`);
      if (broken.length > 0)
        throw new SetupError(
          'Values that cannot be opened keep the former keys; delete those rows, then run this again',
        );
      if (finished) break;
      await new Promise((resolve) => setTimeout(resolve, PASS_EVERY_MS));
    }
    // A key that was made under the former master key while the last pass ran.
    await store.rotateMasterKey();
  } finally {
    await store.close();
  }
  if (settings.masterKeys === undefined) await writeMasterKeys(masterKeyFile(settings), [keys.masterKey]);
  else say('Now leave the former master keys out of HOLDFAST_MASTER_KEY and restart each process');
  say('All keys are changed.');
}

/** Puts a new master key before the former ones, unless a rotation is under way. */
async function startRotation(settings: Settings): Promise<Keys> {
  const keys = await loadKeys(settings);
  if (keys.retiredMasterKeys.length > 0) return keys;
  if (settings.masterKeys !== undefined) {
    throw new SetupError(
      'HOLDFAST_MASTER_KEY holds one key; set it to "former,new" in each process, then to "new,former", then run this again',
    );
  }
  const store = await openStore(settings, keys);
  try {
    // What is made from the master key must be stored before that goes.
    await sharedKeys(store, keys);
  } finally {
    await store.close();
  }
  const file = masterKeyFile(settings);
  await writeMasterKeys(file, [randomBytes(32), ...(await loadMasterKeys(file))]);
  return loadKeys(settings);
}
