import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Kernel from '@onkernel/sdk';
import { z } from 'zod';

/** A browser service in a separate process, with a public client for it. */
export interface MeasuredBrowser {
  kernel: Kernel;
  /** The command line of every Chromium it starts contains this path. */
  workDir: string;
  /** Process id of the service. */
  pid: number;
  stop(): Promise<void>;
}

/** Starts a service that keeps `warm` browsers ready. */
export async function startMeasuredBrowser(chromium: string, warm: number): Promise<MeasuredBrowser> {
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
