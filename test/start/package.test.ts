import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { run } from '../../start/setup/command.ts';
import { checkClientProgram, pack } from './packed.ts';

const Lock = z.object({ packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })) });

describe('the package', () => {
  let folder = '';
  let archive = '';
  const installed = (): string => join(folder, 'node_modules', 'holdfast');

  /** Unpacked beside its run-time dependencies, and no other: what imports one that is not among them fails. */
  beforeAll(async () => {
    archive = await pack();
    folder = await mkdtemp(join(tmpdir(), 'holdfast-package-'));
    await mkdir(join(folder, 'node_modules'));
    await run('tar', ['-xzf', archive, '-C', folder]);
    await cp(join(folder, 'package'), installed(), { recursive: true });
    const { packages } = Lock.parse(JSON.parse(await readFile('package-lock.json', 'utf8')));
    for (const [path, { dev }] of Object.entries(packages)) {
      if (path === '' || dev === true || path.lastIndexOf('node_modules/') !== 0) continue;
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await symlink(resolve(path), join(folder, path));
    }
  }, 300_000);
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await rm(dirname(archive), { recursive: true, force: true });
  });

  test('contains compiled code and declarations, and no sources', async () => {
    const files = await readdir(installed(), { recursive: true });
    expect(files).toContain('dist/package/start/cli.js');
    expect(files).toContain('dist/package/start/client.d.ts');
    expect(files).toContain('dist/package/browser/bidi/mapper-thread.mjs');
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
    const page = await readFile(join(installed(), 'dist/package/api/hosted/page-parts.prebuilt.js'), 'utf8');
    expect(page).toMatch(/^const value = \{"script":".{1000}/);
    const pages = await readFile(join(installed(), 'dist/package/api/console/assets.prebuilt.js'), 'utf8');
    expect(pages).toMatch(/^const value = \{"files":\[.{1000}/);
  });

  test('runs without sources and development dependencies', async () => {
    const cli = join(installed(), 'dist/package/start/cli.js');
    const options = { cwd: folder, env: { PATH: process.env.PATH, HOLDFAST_PLAN: 'gold' } };
    for (const command of ['start', 'api', 'worker', 'browser']) {
      const { ok, output } = await run(process.execPath, [cli, command], options);
      expect(ok).toBe(false);
      expect(output).toMatch(/^holdfast: Invalid configuration: HOLDFAST_PLAN must .*\n$/);
    }
  });

  test('exports a typed client', () => checkClientProgram(folder), 120_000);
});
