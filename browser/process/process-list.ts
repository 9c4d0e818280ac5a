import { readdir, readFile } from 'node:fs/promises';

/** Clock ticks per second and page size of Linux, on all platforms that Node supports. */
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

/** All processes of the machine; empty except on Linux. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  const entries = await Promise.all((await processNames()).map(readEntry));
  return entries.filter((entry) => entry !== null);
}

/** Pids of other readable processes with a matching argument (`cmdline`) or environment variable (`environ`). */
export async function processesWith(
  list: 'cmdline' | 'environ',
  matches: (entry: string) => boolean,
): Promise<number[]> {
  const found = await Promise.all(
    (await processNames()).map(async (name) => {
      const entries = await readFile(`/proc/${name}/${list}`, 'utf8').catch(() => '');
      return entries.split('\0').some(matches) ? Number(name) : null;
    }),
  );
  return found.filter((pid) => pid !== null).filter((pid) => pid !== process.pid);
}

/** Kills a process, if it still exists. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has exited.
  }
}

/** A process and its descendants; empty if it has exited. */
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

/** Direct children. Searches all processes on kernels without a list of them. */
export async function childrenOf(pid: number): Promise<number[]> {
  const name = String(pid);
  const list = await readFile(`/proc/${name}/task/${name}/children`, 'utf8').catch(() => null);
  if (list !== null) return list.split(' ').filter(Boolean).map(Number);
  if ((await readEntry(name)) === null) return [];
  return (await listProcesses()).filter(({ parent }) => parent === pid).map((entry) => entry.pid);
}

/** Whether a process ignores SIGTERM; null if it has exited. */
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
  const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
  // The name in parentheses may contain any character.
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

/** Environment variable that marks the outer processes of a session; its value is the session's root. */
export const SESSION_ROOT_VARIABLE = 'HOLDFAST_SESSION_ROOT';
/** How often to search again: a process may start another just before it is killed. */
const KILL_ROUNDS = 5;

/**
 * Kills the processes of sessions whose root is at or below a folder, and returns their number. Finds processes that left their
 * group or outlived the service, but not those that cleared their environment, which only isolation can contain. Linux only.
 */
export async function killSessionProcesses(folder: string): Promise<number> {
  const mark = `${SESSION_ROOT_VARIABLE}=${folder}`;
  const killed = new Set<number>();
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const found = await processesWith('environ', (entry) => entry === mark || entry.startsWith(`${mark}/`));
    if (found.length === 0) break;
    for (const pid of found) {
      killed.add(pid);
      killProcess(pid);
    }
  }
  return killed.size;
}
