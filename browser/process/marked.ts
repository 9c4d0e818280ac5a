import { killProcess, processesWith } from './process-list.ts';

/** Marks what runs for a session by its environment, outside of what isolates it: the value is the session's root. */
export const SESSION_ROOT_VARIABLE = 'HOLDFAST_SESSION_ROOT';
/** How often processes are looked for again: one may start another just before it is killed. */
const ROUNDS = 5;

/**
 * Kills what runs for sessions whose root is at or below a folder; returns how many there were. Finds processes that left
 * their group and terminal, and those of a service that died; not those that threw their environment away, which only
 * isolation keeps together. Linux only; elsewhere it finds none.
 */
export async function killSessionProcesses(folder: string): Promise<number> {
  const killed = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    const found = await sessionProcesses(folder);
    if (found.length === 0) break;
    for (const pid of found) {
      killed.add(pid);
      killProcess(pid);
    }
  }
  return killed.size;
}

function sessionProcesses(folder: string): Promise<number[]> {
  const mark = `${SESSION_ROOT_VARIABLE}=${folder}`;
  return processesWith('environ', (entry) => entry === mark || entry.startsWith(`${mark}/`));
}
