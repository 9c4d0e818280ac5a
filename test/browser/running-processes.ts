import { readdir, readFile } from 'node:fs/promises';

interface RunningProcess {
  pid: number;
  /** Its arguments, each with a NUL byte at its end. */
  commandLine: string;
}

/** Processes whose command line contains a text, such as the folder they work in. */
export async function processesWith(text: string): Promise<RunningProcess[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const running = await Promise.all(
    pids.map(async (pid) => {
      return { pid: Number(pid), commandLine: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') };
    }),
  );
  return running.filter(({ commandLine }) => commandLine.includes(text));
}

/** The command lines of all processes. */
export async function commandLines(): Promise<string[]> {
  return (await processesWith('')).map(({ commandLine }) => commandLine);
}

/**
 * Process id of the only browser below a folder. It need not be the lowest there: ids wrap around, in a run of all tests
 * more than once.
 */
export async function browserIn(folder: string): Promise<number> {
  const found = await processesWith(folder);
  const [browser, ...others] = found.filter(({ commandLine }) => commandLine.includes('\0--remote-debugging-pipe\0'));
  if (browser === undefined || others.length > 0) throw new Error(`Not exactly one browser below ${folder}`);
  return browser.pid;
}
