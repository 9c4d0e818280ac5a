import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSameProcess, killGroup, processIdentity } from './process-identity.ts';
import { SetupError } from './setup/setup-error.ts';

/** Hold on a data folder: while one start has it, a second is refused. */
export interface DataLock {
  /** Notes a child of ours (leader of its process group), so that a later start can end what a crash left behind. */
  noteChild(name: string, pid: number): Promise<void>;
  release(): Promise<void>;
}

const LOCK_FILE = 'supervisor.pid';
/** Children of a killed start end by themselves within this time, in milliseconds; then they are killed. */
const LEFTOVER_GRACE_MS = 6_000;
/** A killed process is gone within this time, on a busy machine too. */
const KILLED_WITHIN_MS = 5_000;

/**
 * Takes the folder for this process. Throws a {@link SetupError} when a living process has it. What a start that was
 * killed left running is waited for, and killed when it stays, before this resolves.
 */
export async function lockDataDir(dataDir: string, leftoverGraceMs = LEFTOVER_GRACE_MS): Promise<DataLock> {
  const folder = join(dataDir, 'run');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lockFile = join(folder, LOCK_FILE);
  const me = processIdentity(process.pid) ?? `${process.pid} `;
  // Linked with its text in it: one that is made first and written then looks stale to others in between.
  const mine = `${lockFile}.${randomUUID()}`;
  await writeFile(mine, me, { mode: 0o600 });
  try {
    while (!(await linkUnlessTaken(mine, lockFile))) {
      const holder = livingHolder(await readText(lockFile));
      if (holder !== null) {
        throw new SetupError(
          `Holdfast runs already on ${dataDir} (process ${holder}); stop that one, or set ` +
            'HOLDFAST_DATA_DIR to another folder and HOLDFAST_PORT to another port',
        );
      }
      await removeStale(lockFile);
    }
  } finally {
    await rm(mine, { force: true });
  }
  await endLeftovers(folder, leftoverGraceMs);
  return {
    async noteChild(name, pid) {
      const identity = processIdentity(pid);
      if (identity !== undefined) await writeFile(join(folder, `${name}.child`), identity, { mode: 0o600 });
    },
    async release() {
      for (const file of await childFiles(folder)) await rm(file, { force: true });
      await rm(lockFile, { force: true });
    },
  };
}

/** Process id of the living start that has the folder; null when none has. */
export async function lockHolder(dataDir: string): Promise<string | null> {
  return livingHolder(await readText(join(dataDir, 'run', LOCK_FILE)));
}

/** False when there is a file of that name already. */
async function linkUnlessTaken(file: string, name: string): Promise<boolean> {
  try {
    await link(file, name);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return false;
  }
}

/** Removes the lock of a start that is gone. It is moved aside first: of two that find the same one, one moves it and the other finds none. */
async function removeStale(lockFile: string): Promise<void> {
  const aside = `${lockFile}.${randomUUID()}`;
  await rename(lockFile, aside).catch(() => undefined);
  // One that was taken since it was read goes back to its place.
  if (livingHolder(await readText(aside)) !== null) await link(aside, lockFile).catch(() => undefined);
  await rm(aside, { force: true });
}

function livingHolder(holder: string): string | null {
  return holder !== '' && isSameProcess(holder) ? (holder.split(' ')[0] ?? '?') : null;
}

async function endLeftovers(folder: string, graceMs: number): Promise<void> {
  const end = Date.now() + graceMs;
  for (const file of await childFiles(folder)) {
    const identity = await readText(file);
    await goneBy(identity, end);
    if (isSameProcess(identity)) {
      killGroup(Number(identity.split(' ')[0]), 'SIGKILL');
      await goneBy(identity, Date.now() + KILLED_WITHIN_MS);
    }
    await rm(file, { force: true });
  }
}

async function goneBy(identity: string, end: number): Promise<void> {
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
