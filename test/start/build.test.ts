import { spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';

const Needs = z.record(z.string(), z.string()).optional();
const Lock = z.object({ packages: z.record(z.string(), z.object({ dependencies: Needs, peerDependencies: Needs })) });

/** A checkout of two commands' worth: our own bootstrap and build around a program of a few lines. */
describe('the build of every command', () => {
  let root = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'holdfast-build-'));
    await mkdir(join(root, 'start'));
    for (const file of [
      'start/bootstrap.mjs',
      'start/build.ts',
      'package.json',
      'package-lock.json',
      'tsconfig.json',
    ]) {
      await cp(file, join(root, file));
    }
    await symlink(resolve('node_modules'), join(root, 'node_modules'));
    await writeFile(
      join(root, 'start', 'cli.ts'),
      `import { word } from './word.ts';
       import make from './made.prebuilt.ts';
       console.log(JSON.stringify({ word, made: make(), argument: process.argv[2] }));`,
    );
    await writeFile(join(root, 'start', 'word.ts'), `export const word: string = 'first';`);
    await writeFile(join(root, 'start', 'made.prebuilt.ts'), `export default (): number => process.pid;`);
  });
  afterEach(async () => {
    await chmod(root, 0o755);
    await rm(root, { recursive: true, force: true });
  });

  /** Runs a command of this checkout to its end. */
  async function run(command: string, user?: number) {
    const child = start(command, user);
    let output = '';
    let errors = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    const code = await new Promise<number | null>((done) => child.once('close', done));
    return { code, output, errors, said: () => said(output) };
  }

  function start(command: string, user?: number) {
    return spawn(process.execPath, [join(root, 'start', 'bootstrap.mjs'), command], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...(user === undefined ? {} : { uid: user, gid: user }),
    });
  }

  const said = (output: string): Record<string, unknown> => JSON.parse(output) as Record<string, unknown>;
  const builds = async (): Promise<string[]> => await readdir(join(root, 'dist')).catch(() => []);

  test('compiles once, reuses the result, and never runs outdated code', async () => {
    const first = await run('start');
    expect(first.errors).toMatch(/^Compiling .*\nCompiled in \d+ s\n$/);
    expect(first.said()).toMatchObject({ word: 'first', argument: 'start' });
    const second = await run('start');
    // The same process id: what was made at build time is in the compiled code.
    expect(second).toMatchObject({ errors: '', output: first.output });

    await writeFile(join(root, 'start', 'word.ts'), `export const word: string = 'second';`);
    expect((await run('start')).said()).toMatchObject({ word: 'second' });
    await writeFile(join(root, 'start', 'word.ts'), `export const word: string = 'first';`);
    expect(await run('start')).toMatchObject({ errors: '', output: first.output });
    expect(await builds()).toHaveLength(2);
  });

  test('packages of many small files are bundled, and no other dependency uses them', async () => {
    await writeFile(
      join(root, 'start', 'word.ts'),
      `import { Kysely } from 'kysely';
       const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
       export const word = \`\${Kysely.name} \${generateAuthenticationOptions.name}\`;`,
    );
    expect((await run('start')).said()).toMatchObject({ word: 'Kysely generateAuthenticationOptions' });
    const [name = ''] = await builds();
    const packages = join(root, 'dist', name, 'packages');
    const found = (await readdir(packages, { recursive: true })).filter((path) => path.endsWith('.js')).toSorted();
    expect(found).toEqual(['@simplewebauthn/server.js', 'kysely.js']);
    expect(await readFile(join(root, 'dist', name, 'start', 'word.js'), 'utf8')).not.toMatch(/["']kysely["']/);
    const lock = Lock.parse(JSON.parse(await readFile('package-lock.json', 'utf8')));
    const others = Object.entries(lock.packages).filter(([path]) => path !== '');
    for (const one of found.map((path) => path.replace(/\.js$/, '')))
      expect(others.filter(([, entry]) => one in { ...entry.dependencies, ...entry.peerDependencies })).toEqual([]);
  });

  test('one of two concurrent starts compiles, and both run', async () => {
    const [one, other] = await Promise.all([run('start'), run('start')]);
    expect(one.said()).toEqual(other.said());
    expect((one.errors + other.errors).match(/Compiled in/g)).toHaveLength(1);
  });

  test('a killed build leaves nothing that runs', async () => {
    const child = start('start');
    // The moment in which the draft is there and not whole.
    await vi.waitFor(async () => expect(await builds()).toEqual([expect.stringMatching(/^\./)]), {
      timeout: 30_000,
      interval: 5,
    });
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await new Promise((done) => child.once('close', done));
    expect((await builds()).filter((name) => !name.startsWith('.'))).toEqual([]);
    const next = await run('start');
    expect(next.said()).toMatchObject({ word: 'first' });
    expect(await builds()).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
  });

  test('code that does not compile is reported with its location, and leaves nothing', async () => {
    await writeFile(join(root, 'start', 'word.ts'), `export const word: string = ;`);
    const { code, errors } = await run('start');
    expect(code).toBe(1);
    expect(errors).toContain('start/word.ts:1:28');
    expect(errors).toMatch(/^holdfast: The code cannot be compiled .*$/m);
    expect(await builds()).toEqual([]);
  });

  test('a read-only checkout is reported in one line; a compiled one runs', async () => {
    const someone = process.getuid?.() === 0 ? 65_534 : undefined;
    await chmod(root, 0o555);
    const refused = await run('start', someone);
    expect(refused.code).toBe(1);
    expect(refused.errors).toMatch(/^holdfast: Cannot write to .* \(EACCES\); run `npm run build` where .*\n$/);
    await chmod(root, 0o755);
    await run('build');
    const [name = ''] = await builds();
    const before = (await stat(join(root, 'dist', name))).mtimeMs;
    await chmod(root, 0o555);
    expect((await run('start', someone)).said()).toMatchObject({ word: 'first' });
    if (someone !== undefined) expect((await stat(join(root, 'dist', name))).mtimeMs).toBe(before);
  });
});
