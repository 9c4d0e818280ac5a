import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Kernel from '@onkernel/sdk';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePortBlock } from '../setup/free-port-block.ts';

/** On a machine that does other things beside. */
const READY_MS = 200_000;

/** `npm start` as a person types it. */
interface Started {
  npm: ChildProcess;
  output: () => string;
  ended: Promise<number | null>;
}

describe('npm start', () => {
  let dataDir = '';
  let port = 0;
  const all: Started[] = [];

  function npmStart(env: NodeJS.ProcessEnv = {}): Started {
    const npm = spawn('npm', ['start'], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        HOLDFAST_PORT: `${port}`,
        HOLDFAST_DATA_DIR: dataDir,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => npm.once('close', (code) => resolve(code)));
    const started = { npm, output: () => text, ended };
    all.push(started);
    return started;
  }

  async function ready(started: Started): Promise<void> {
    await vi.waitFor(() => expect(started.output()).toContain('continues where it left off'), READY_MS);
  }

  /** Everything that runs with our data folder in its environment: the tree and whatever it started. */
  async function members(): Promise<number[]> {
    const found: number[] = [];
    for (const name of await readdir('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
      if (environment.split('\0').includes(`HOLDFAST_DATA_DIR=${dataDir}`)) found.push(Number(name));
    }
    return found;
  }

  const health = async (): Promise<number> => (await fetch(`http://localhost:${port}/health`)).status;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'holdfast-start-'));
    port = await freePortBlock(6);
  });
  afterAll(async () => {
    for (const { npm } of all) npm.kill('SIGTERM');
    await Promise.all(all.map(({ ended }) => ended));
    await vi.waitFor(async () => expect(await members()).toEqual([]), 60_000);
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  });

  test('prints instructions, rejects a second start, survives kill -9, and stops cleanly', async () => {
    const first = npmStart();
    await ready(first);
    const said = first.output();
    for (const part of [
      `http://localhost:${port}`,
      'hf_live_',
      `http://localhost:${port + 1}/login`,
      'alice',
      `${port + 5}`,
    ]) {
      expect(said).toContain(part);
    }
    expect(await health()).toBe(200);

    // The same folder: refused, in one line, without a stack trace.
    const second = npmStart();
    const other = npmStart({ HOLDFAST_DATA_DIR: join(dataDir, 'other') });
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/^holdfast: Holdfast is already running on .*HOLDFAST_DATA_DIR.*$/m);
    expect(second.output()).not.toMatch(/^\s+at /m);

    // The same port, another folder.
    expect(await other.ended).toBe(1);
    expect(other.output()).toMatch(
      new RegExp(`^holdfast: Cannot start: port ${port} \\(HOLDFAST_PORT, the API\\) is taken`, 'm'),
    );
    expect(other.output()).not.toMatch(/^\s+at /m);

    // Its own key is rotated away: the next start says so, instead of printing lines that fail.
    const kernel = new Kernel({ apiKey: /hf_live_\w+/.exec(said)?.[0] ?? '', baseURL: `http://localhost:${port}` });
    const [own] = (await kernel.apiKeys.list()).getPaginatedItems();
    await kernel.apiKeys.rotate(own?.id ?? '', { expire_in_days: 0 });

    // The supervisor is killed without a word: all its children end by themselves.
    const pid = Number((await readFile(join(dataDir, 'run', 'supervisor.pid'), 'utf8')).split(' ')[0]);
    process.kill(pid, 'SIGKILL');
    await first.ended;
    await vi.waitFor(async () => expect(await members()).toEqual([]), 60_000);

    // It continues where it left off, and npm's own end is a clean one.
    const third = npmStart();
    await vi.waitFor(() => {
      expect(third.output()).toMatch(/rejects this installation's own key.*remove .*api\.key and start again/);
    }, READY_MS);
    expect(third.output()).not.toContain('hf_live_');
    third.npm.kill('SIGTERM');
    expect(await third.ended).toBe(0);
    expect(third.output()).toContain('Stopped.');
    await vi.waitFor(async () => expect(await members()).toEqual([]), 60_000);
    expect(await readdir(join(dataDir, 'run'))).not.toContain('supervisor.pid');
  }, 600_000);

  test('an invalid setting and a missing tool are reported in one line each', async () => {
    const wrong = npmStart({ HOLDFAST_PLAN: 'gold', HOLDFAST_API_KEY: 'short' });
    const missing = npmStart({ CHROMIUM_PATH: '/nowhere/chromium' });
    expect(await wrong.ended).toBe(1);
    expect(wrong.output()).toMatch(
      /^holdfast: Invalid configuration: HOLDFAST_API_KEY must .*; HOLDFAST_PLAN must .*$/m,
    );
    expect(await missing.ended).toBe(1);
    expect(missing.output()).toMatch(/^holdfast: CHROMIUM_PATH is '\/nowhere\/chromium', which is not a program; /m);
  }, 120_000);
});
