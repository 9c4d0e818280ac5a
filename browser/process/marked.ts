import { readdir, readFile } from 'node:fs/promises';

/** Marks what runs for a session by its environment, outside of what isolates it: the value is the session's root. */
export const SESSION_ROOT_VARIABLE = 'HOLDFAST_SESSION_ROOT';
/** How often processes are looked for again: one may start another just before it is killed. */
const ROUNDS = 5;

/**
 * Kills what runs for sessions whose root is at or below a folder; returns how many there were. Finds processes that left
 * their group and terminal, and those of a service that died; not those that threw their environment away, which only
 * isolation keeps together. Linux only; elsewhere it finds none.
 */
export async function killMarked(folder: string): Promise<number> {
  const killed = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    const found = await markedProcesses(folder);
    if (found.length === 0) break;
    for (const pid of found) {
      killed.add(pid);
      killQuietly(pid);
    }
  }
  return killed.size;
}

async function markedProcesses(folder: string): Promise<number[]> {
  const mark = `${SESSION_ROOT_VARIABLE}=${folder}`;
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const marked = await Promise.all(
    names.map(async (name) => {
      // Gone meanwhile, or not ours to read: not one of ours.
      const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
      const entries = environment.split('\0');
      return entries.some((entry) => entry === mark || entry.startsWith(`${mark}/`)) ? Number(name) : null;
    }),
  );
  return marked.filter((pid) => pid !== null && pid !== process.pid).map(Number);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}
