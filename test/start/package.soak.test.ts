import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { run } from '../../start/setup/command.ts';
import { freePortBlock } from '../setup/free-port-block.ts';
import { checkClientProgram, pack } from './packed.ts';

/** `npm install` of the archive in an empty folder, as somebody else does it: the registry is needed. */
let folder = '';
let archive = '';
beforeAll(async () => {
  archive = await pack();
  folder = await mkdtemp(join(tmpdir(), 'holdfast-installed-'));
  await writeFile(join(folder, 'package.json'), '{ "name": "user", "private": true, "type": "module" }');
  const installed = await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', archive], {
    cwd: folder,
  });
  expect(installed).toMatchObject({ ok: true });
}, 900_000);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  await rm(dirname(archive), { recursive: true, force: true });
});

test('`npx holdfast` runs everything, twice, in the current folder', async () => {
  for (let start = 1; start <= 2; start++) {
    const port = await freePortBlock(6);
    const tree = spawn('npx', ['--no-install', 'holdfast'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, HOLDFAST_PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let said = '';
    for (const stream of [tree.stdout, tree.stderr]) stream.on('data', (data: Buffer) => (said += data.toString()));
    const ended = new Promise<number | null>((done) => tree.once('close', done));
    try {
      await vi.waitFor(() => expect(said).toContain('continues where it left off'), 240_000);
      expect((await fetch(`http://localhost:${port}/health`)).status).toBe(200);
      expect(said).toContain(join(folder, '.holdfast'));
    } finally {
      process.kill(-(tree.pid ?? 0), 'SIGINT');
    }
    await ended;
    expect(said).toContain('Stopped.');
  }
}, 600_000);

test('a third-party program type-checks against `holdfast/client` and runs', async () => {
  await checkClientProgram(folder);
}, 120_000);
