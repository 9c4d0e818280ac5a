import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createUnisolated } from '../../browser/process/isolation.ts';
import { DEFAULT_LIMITS } from '../../browser/process/limits.ts';
import { createPrograms, programsFolder } from '../../browser/programs/programs.ts';
import { removeStaleArchives } from '../../browser/programs/received-archives.ts';
import { findTools } from '../../browser/programs/tools.ts';
import type { ProgramRun } from '../../contract/programs.ts';
import { programArchive } from '../e2e/program-archive.ts';

const ID = 'dep_0000000000000000000000000';
const BUILD: ProgramRun = { kind: 'build', entrypoint: 'index.mjs', env: { KERNEL_API_KEY: 'none' }, timeout_sec: 60 };
const PROGRAM = `import Kernel from '@onkernel/sdk';
new Kernel().app('two').action('say', async (context) => 'hello');`;

let workDir: string;
beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'holdfast-programs-'));
});
afterEach(() => rm(workDir, { recursive: true, force: true }));

const openPrograms = () =>
  createPrograms({
    isolation: createUnisolated(DEFAULT_LIMITS),
    workDir,
    tools: findTools(),
    openEgress: () => Promise.reject(new Error('programs that nothing isolates have the network of the machine')),
  });

it('builds a program for two workers concurrently, each from its own archive', async () => {
  const programs = openPrograms();
  const archive = await programArchive({ 'index.mjs': PROGRAM });
  const { signal } = new AbortController();
  const send = () => programs.receive(ID, Readable.from([archive]));
  const begin = async () => (await programs.prepare(ID, BUILD))(() => undefined, signal);
  await send();
  await send();
  // The second begins when the first is over with its archive, and once more while the first's program is there.
  const [first] = await Promise.all([begin(), begin()]);
  expect(first).toEqual({ outcome: 'answered', answer: expect.any(String) as unknown });
  expect(await readdir(programsFolder(workDir))).toEqual([ID]);
  await expect(programs.prepare(ID, BUILD)).rejects.toMatchObject({ code: 'not_found' });
});

it('evicts the least recently used program, unless it is running', async () => {
  const programs = openPrograms();
  const endless = PROGRAM.replace(
    "'hello'",
    "{ console.log('begun'); await new Promise((done) => setTimeout(done, 2 ** 30)); }",
  );
  const { signal } = new AbortController();
  const build = async (id: string, program: string) => {
    await programs.receive(id, Readable.from([await programArchive({ 'index.mjs': program })]));
    await (
      await programs.prepare(id, BUILD)
    )(() => undefined, signal);
  };
  await build(ID, endless);
  const ending = new AbortController();
  const action = {
    ...BUILD,
    kind: 'action' as const,
    app: 'two',
    action: 'say',
    payload: null,
    invocation_id: 'inv',
    api_url: '',
  };
  const start = await programs.prepare(ID, action);
  const said: string[] = [];
  const end = start((line) => said.push(line), ending.signal);
  await expect.poll(() => said.join()).toContain('begun');
  const later = new Date(Date.now() + 60_000);
  const others = Array.from({ length: 60 }, (_, index) => `dep_1${String(index).padStart(2, '0')}`);
  for (const name of others) {
    const folder = path.join(programsFolder(workDir), name);
    await mkdir(folder);
    await utimes(folder, later, later);
  }
  await build('dep_2', PROGRAM);
  expect(await readdir(programsFolder(workDir))).toContain(ID);
  ending.abort();
  await end;
  await build('dep_3', PROGRAM);
  expect(await readdir(programsFolder(workDir))).not.toContain(ID);
});

it('keeps built programs, but no archives, of a killed service', async () => {
  const folder = programsFolder(workDir);
  await mkdir(path.join(folder, ID, 'app'), { recursive: true });
  await mkdir(path.join(folder, `${ID}.new`, 'app'), { recursive: true });
  await writeFile(path.join(folder, `${ID}.zip`), 'PK: half of a program');
  await removeStaleArchives(folder);
  expect(await readdir(folder)).toEqual([ID]);
});
