import { readdir, readFile } from 'node:fs/promises';

/** Clock ticks in a second and bytes in a page: what Linux has on the machines that Node runs on. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

/** One process of the machine. */
interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  session: number;
  cpuSeconds: number;
  memoryBytes: number;
}

/** All processes of the machine. Linux only; elsewhere none. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  const entries = await Promise.all((await processNames()).map(readEntry));
  return entries.filter((entry) => entry !== null);
}

/**
 * Processes, but this one, one of whose arguments (`cmdline`) or variables (`environ`) is one that is looked for. Those that
 * are not ours to read are none of them.
 */
export async function processesWith(
  list: 'cmdline' | 'environ',
  isWanted: (entry: string) => boolean,
): Promise<number[]> {
  const found = await Promise.all(
    (await processNames()).map(async (name) => {
      const entries = await readFile(`/proc/${name}/${list}`, 'utf8').catch(() => '');
      return entries.split('\0').some(isWanted) ? Number(name) : null;
    }),
  );
  return found.filter((pid) => pid !== null).filter((pid) => pid !== process.pid);
}

/** Kills a process, unless it has ended by itself. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}

/** A process and everything below it; empty when it has gone. */
export async function processTree(pid: number): Promise<ProcessEntry[]> {
  const top = await readEntry(String(pid));
  if (top === null) return [];
  const found = [top];
  for (const entry of found) {
    const below = await Promise.all((await childrenOf(entry.pid)).map((child) => readEntry(String(child))));
    found.push(...below.filter((child) => child !== null));
  }
  return found;
}

/** Direct children; of a process that has gone, none. Kernels without the list of them make it a search through all processes. */
export async function childrenOf(pid: number): Promise<number[]> {
  const name = String(pid);
  const list = await readFile(`/proc/${name}/task/${name}/children`, 'utf8').catch(() => null);
  if (list !== null) return list.split(' ').filter(Boolean).map(Number);
  if ((await readEntry(name)) === null) return [];
  return (await listProcesses()).filter(({ parent }) => parent === pid).map((entry) => entry.pid);
}

/** Whether a process ignores SIGTERM, as its kernel entry says; null when it has gone. */
export async function ignoresTermination(pid: number): Promise<boolean | null> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8').catch(() => '');
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  const termination = 1n << 14n;
  return mask === undefined ? null : (BigInt(`0x${mask}`) & termination) !== 0n;
}

async function processNames(): Promise<string[]> {
  return (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
}

async function readEntry(name: string): Promise<ProcessEntry | null> {
  // Gone meanwhile: not there.
  const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
  // The name in brackets may hold anything, brackets and spaces too.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 22) return null;
  const number = (index: number): number => Number(fields[index] ?? 0);
  return {
    pid: Number(name),
    parent: number(1),
    group: number(2),
    session: number(3),
    cpuSeconds: (number(11) + number(12)) / TICKS_PER_SECOND,
    memoryBytes: number(21) * PAGE_BYTES,
  };
}

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
