import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSameProcess, killGroup, processIdentity } from './process-identity.ts';
import { SetupError } from './setup/setup-error.ts';

/** The lock of a data folder: while one start holds it, a second one is rejected. */
export interface DataLock {
  /** Records a child (leader of its process group), so that a later start can end it after a crash. */
  recordChild(name: string, pid: number): Promise<void>;
  release(): Promise<void>;
}

const LOCK_FILE = 'supervisor.pid';
/** Children of a killed start should exit within this time, in milliseconds; then they are killed. */
const LEFTOVER_GRACE_MS = 6_000;
/** A killed process has exited within this time, even on a busy machine. */
const KILL_TIMEOUT_MS = 5_000;

/**
 * Locks the folder for this process. Throws a {@link SetupError} if a running process holds it. Before it resolves, it waits for
 * leftover children of a killed start, and kills them if they stay.
 */
export async function lockDataDir(dataDir: string, leftoverGraceMs = LEFTOVER_GRACE_MS): Promise<DataLock> {
  const folder = join(dataDir, 'run');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lockFile = join(folder, LOCK_FILE);
  const me = processIdentity(process.pid) ?? `${process.pid} `;
  // Linked with its content: a lock that is created first and written afterwards would look stale in between.
  const draft = `${lockFile}.${randomUUID()}`;
  await writeFile(draft, me, { mode: 0o600 });
  try {
    while (!(await linkUnlessExists(draft, lockFile))) {
      const holder = liveHolder(await readText(lockFile));
      if (holder !== null) {
        throw new SetupError(
          `Holdfast is already running on ${dataDir} (process ${holder}); stop it, or set ` +
            'HOLDFAST_DATA_DIR to another folder and HOLDFAST_PORT to another port',
        );
      }
      await removeStale(lockFile);
    }
  } finally {
    await rm(draft, { force: true });
  }
  await endLeftovers(folder, leftoverGraceMs);
  return {
    async recordChild(name, pid) {
      const identity = processIdentity(pid);
      if (identity !== undefined) await writeFile(join(folder, `${name}.child`), identity, { mode: 0o600 });
    },
    async release() {
      for (const file of await childFiles(folder)) await rm(file, { force: true });
      await rm(lockFile, { force: true });
    },
  };
}

/** Process id of the running start that holds the folder; null if none does. */
export async function lockHolder(dataDir: string): Promise<string | null> {
  return liveHolder(await readText(join(dataDir, 'run', LOCK_FILE)));
}

/** False if a file with that name exists. */
async function linkUnlessExists(file: string, name: string): Promise<boolean> {
  try {
    await link(file, name);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return false;
  }
}

/** Removes the lock of a start that has exited. It is renamed first, so that of concurrent callers only one removes it. */
async function removeStale(lockFile: string): Promise<void> {
  const aside = `${lockFile}.${randomUUID()}`;
  await rename(lockFile, aside).catch(() => undefined);
  // A lock that was taken since it was read is put back.
  if (liveHolder(await readText(aside)) !== null) await link(aside, lockFile).catch(() => undefined);
  await rm(aside, { force: true });
}

function liveHolder(holder: string): string | null {
  return holder !== '' && isSameProcess(holder) ? (holder.split(' ')[0] ?? '?') : null;
}

async function endLeftovers(folder: string, graceMs: number): Promise<void> {
  const end = Date.now() + graceMs;
  for (const file of await childFiles(folder)) {
    const identity = await readText(file);
    await waitUntilGone(identity, end);
    if (isSameProcess(identity)) {
      killGroup(Number(identity.split(' ')[0]), 'SIGKILL');
      await waitUntilGone(identity, Date.now() + KILL_TIMEOUT_MS);
    }
    await rm(file, { force: true });
  }
}

async function waitUntilGone(identity: string, end: number): Promise<void> {
  while (isSameProcess(identity) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function childFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.child')).map((name) => join(folder, name));
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return '';
  }
}
