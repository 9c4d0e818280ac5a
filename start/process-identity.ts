import { readFileSync } from 'node:fs';

/**
 * Identifies a process: its id and, where available, its start time, because ids are reused. Undefined if there is no such
 * process.
 */
export function processIdentity(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  try {
    // After the command name in parentheses, the 20th value of /proc/<pid>/stat is the start time in clock ticks.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (values[0] === 'Z') return undefined;
    return `${pid} ${values[19] ?? ''}`;
  } catch {
    return `${pid} `;
  }
}

/** True while the process identified by {@link processIdentity} runs. */
export function isSameProcess(identity: string): boolean {
  const pid = Number(identity.split(' ')[0]);
  return Number.isInteger(pid) && pid > 1 && processIdentity(pid) === identity;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Signals a whole process group. A group that no longer exists is not an error. */
export function killGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // ESRCH: the group is empty.
  }
}
