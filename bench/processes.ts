import { readdir, readFile } from 'node:fs/promises';

/** A tick of /proc/<pid>/stat on Linux, in milliseconds. */
const TICK_MS = 10;

/** User and system time that a process has used, in milliseconds; 0 if it has ended. */
export async function processorTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The command's name in parentheses may contain spaces; the 12th and 13th values after it are user and system time.
  const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(values[11] ?? 0) + Number(values[12] ?? 0)) * TICK_MS;
}

/** Processes of a browser service's sessions, by its work folder. */
export async function sessionProcesses(workDir: string): Promise<{ pid: number; commandLine: string }[]> {
  const found: { pid: number; commandLine: string }[] = [];
  for (const pid of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (commandLine.includes(`${workDir}/sessions/`)) found.push({ pid: Number(pid), commandLine });
  }
  return found;
}

/** Process id of the only Chromium of a browser service. */
export async function chromiumPid(workDir: string): Promise<number> {
  for (const { pid, commandLine } of await sessionProcesses(workDir))
    if (commandLine.includes('--user-data-dir=') && !commandLine.includes('--type=')) return pid;
  throw new Error('no Chromium is running there');
}

/** Memory of all processes of a browser service's sessions in MB; shared pages count once. */
export async function sessionMemory(workDir: string): Promise<number> {
  let kilobytes = 0;
  for (const { pid } of await sessionProcesses(workDir)) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    kilobytes += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
  }
  return kilobytes / 1024;
}
