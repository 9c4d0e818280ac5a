import { readFileSync } from 'node:fs';

/**
 * Names one process for good: its id and, where the system tells, the moment it began (ids are used again).
 * `undefined` when no such process lives.
 */
export function processIdentity(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  try {
    // After the command's name in brackets, the 20th value of /proc/<pid>/stat is the start time in clock ticks.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (values[0] === 'Z') return undefined;
    return `${pid} ${values[19] ?? ''}`;
  } catch {
    return `${pid} `;
  }
}

/** True while the process that {@link processIdentity} named still lives. */
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

/** Kills a whole process group at once. A group that is gone already is no error. */
export function killGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // ESRCH: nobody is left in it.
  }
}
