import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Kernel from '@onkernel/sdk';
import { z } from 'zod';

/** A browser service in a process of its own, with the public client beside it. */
export interface BrowserUnderMeasure {
  kernel: Kernel;
  /** Its folder: the command line of every Chromium it starts names it. */
  workDir: string;
  /** Of the service. */
  pid: number;
  stop(): Promise<void>;
}

/** Starts one that keeps `warm` browsers started ahead of need. */
export async function startBrowserUnderMeasure(chromium: string, warm: number): Promise<BrowserUnderMeasure> {
  const workDir = await mkdtemp(join(tmpdir(), 'hf-bench-browser-'));
  const apiKey = randomBytes(16).toString('hex');
  const child = fork(join(import.meta.dirname, 'browser-process.ts'), [workDir, chromium, String(warm), apiKey], {
    execArgv: ['--import', 'tsx'],
  });
  const [message] = (await once(child, 'message')) as [unknown];
  return {
    kernel: new Kernel({ apiKey, baseURL: z.string().parse(message), maxRetries: 0 }),
    workDir,
    pid: z.number().parse(child.pid),
    stop: async () => {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
      await rm(workDir, { recursive: true, force: true });
    },
  };
}

/** Process id of the only Chromium whose command line names the folder. */
export async function browserUnder(folder: string): Promise<number> {
  for (const { pid, line } of await processesUnder(folder))
    if (line.includes('--user-data-dir=') && !line.includes('--type=')) return Number(pid);
  throw new Error('no Chromium runs there');
}

/** Memory of all processes whose command line names the folder, in MB: what two of them share is counted once. */
export async function memoryUnder(folder: string): Promise<number> {
  let kilobytes = 0;
  for (const { pid } of await processesUnder(folder)) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    kilobytes += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
  }
  return kilobytes / 1024;
}

/** Processes whose command line names the folder. */
export async function processesUnder(folder: string): Promise<{ pid: string; line: string }[]> {
  const found: { pid: string; line: string }[] = [];
  for (const pid of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(`${folder}/sessions/`)) found.push({ pid, line });
  }
  return found;
}
