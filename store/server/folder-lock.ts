import { openSync, readFileSync, rmSync, writeSync, closeSync } from 'node:fs';
import { join } from 'node:path';

const LOCK_NAME = 'holdfast.lock';

/**
 * Takes a data folder for this process. Two processes on one folder would destroy it, so this throws when another process
 * that is alive holds it; the lock of a dead one is taken over.
 * @returns gives the folder back.
 */
export function lockFolder(dir: string): () => void {
  const path = join(dir, LOCK_NAME);
  const mine = `${process.pid} ${startOf(process.pid)}`;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      const file = openSync(path, 'wx', 0o600);
      writeSync(file, mine);
      closeSync(file);
      return () => {
        if (read(path) === mine) rmSync(path, { force: true });
      };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      const [pid = '', start = ''] = (read(path) ?? '').split(' ');
      if (isAlive(Number(pid), start))
        throw new Error(`The data folder ${dir} is in use by process ${pid}; stop it or choose another folder.`);
      rmSync(path, { force: true });
    }
  }
  throw new Error(`The data folder ${dir} is being taken by several processes at once; start one.`);
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function isAlive(pid: number, start: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  // After a restart of the machine the number may belong to somebody else.
  return startOf(pid) === start;
}

/** When a process started, in ticks since boot, where the system tells (Linux); else empty. */
function startOf(pid: number): string {
  const stat = read(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
