import { createServer } from 'node:http';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { installAtomically } from '../../start/setup/tools.ts';
import { findChromium } from '../../start/setup/chromium.ts';
import { findOnPath, lastLine, run } from '../../start/setup/command.ts';
import { download } from '../../start/setup/tools.ts';
import { withProgress } from '../../start/setup/progress.ts';
import { findTemporalCli, TEMPORAL_CLI_VERSION } from '../../start/setup/temporal.ts';

const silent = { step: () => undefined, note: () => undefined };

describe('setup', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-setup-'));
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true, force: true });
  });

  async function program(path: string): Promise<string> {
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, '#!/bin/sh\necho ok\n');
    await chmod(path, 0o755);
    return path;
  }

  test('a tool is installed atomically by concurrent calls', async () => {
    const fill = async (into: string): Promise<void> => {
      await writeFile(join(into, 'a'), 'a');
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      await writeFile(join(into, 'b'), 'b');
    };
    const targets = await Promise.all(Array.from({ length: 8 }, () => installAtomically('tool-1', fill, folder)));
    expect(new Set(targets)).toEqual(new Set([join(folder, 'tool-1')]));
    expect(await readdir(folder)).toEqual(['tool-1']);
    expect((await readdir(join(folder, 'tool-1'))).sort()).toEqual(['a', 'b']);
  });

  test('a failed installation leaves nothing behind', async () => {
    const failing = installAtomically('tool-2', () => Promise.reject(new Error('no disk')), folder);
    await expect(failing).rejects.toThrow('no disk');
    expect(await readdir(folder)).toEqual([]);
  });

  test('the Temporal CLI on PATH takes precedence over the cached one', async () => {
    const cached = await program(join(folder, 'cache', 'holdfast', `temporal-${TEMPORAL_CLI_VERSION}`, 'temporal'));
    vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
    vi.stubEnv('PATH', join(folder, 'bin'));
    expect(await findTemporalCli()).toBe(cached);
    const onPath = await program(join(folder, 'bin', 'temporal'));
    expect(await findTemporalCli()).toBe(onPath);
  });

  test('CHROMIUM_PATH is used as is, and an invalid one is reported', async () => {
    const chromium = await program(join(folder, 'my-chromium'));
    expect(await findChromium(chromium)).toBe(chromium);
    await expect(findChromium(join(folder, 'nothing'))).rejects.toThrow(/^CHROMIUM_PATH is '.*nothing', which is not/);
  });

  test('a folder or a non-executable file is not a program', async () => {
    await mkdir(join(folder, 'one', 'tool'), { recursive: true });
    await mkdir(join(folder, 'two'));
    await writeFile(join(folder, 'two', 'tool'), '');
    const real = await program(join(folder, 'three', 'tool'));
    const path = ['one', 'two', 'three'].map((name) => join(folder, name)).join(delimiter);
    expect(await findOnPath(['tool'], path)).toBe(real);
    expect(await findOnPath(['other'], path)).toBeUndefined();
  });

  test('a download is written with progress; an HTTP error rejects', async () => {
    const body = Buffer.alloc(300_000, 'x');
    const server = createServer((request, response) => {
      if (request.url === '/file') response.setHeader('content-length', body.length).end(body);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    const steps: [number, number][] = [];
    const file = join(folder, 'file');
    await download(`${base}/file`, file, { ...silent, step: (done, total) => steps.push([done, total]) });
    expect((await readFile(file)).length).toBe(body.length);
    expect(steps.at(-1)).toEqual([body.length, body.length]);
    await expect(download(`${base}/none`, file, silent)).rejects.toThrow('HTTP 404');
    await new Promise((resolve) => server.close(resolve));
  });

  test('quick work is silent; slow work reports its start and end', async () => {
    const said: string[] = [];
    const output = { write: (text: string) => said.push(text) };
    await withProgress('Quick', () => Promise.resolve(), output);
    expect(said).toEqual([]);
    vi.useFakeTimers();
    try {
      const slow = withProgress('Slow', () => new Promise((resolve) => setTimeout(resolve, 1_500)), output);
      await vi.advanceTimersByTimeAsync(1_500);
      await slow;
    } finally {
      vi.useRealTimers();
    }
    expect(said[0]).toBe('Slow ...\n');
    expect(said[1]).toMatch(/^Slow: done in \d s\n$/);
    const failing = withProgress('Bad', () => Promise.reject(new Error('broken')), output);
    await expect(failing).rejects.toThrow('broken');
  });

  test('a command that cannot be started fails, and the end of output is retained', async () => {
    expect((await run('/nowhere/program', [])).ok).toBe(false);
    const result = await run('/bin/sh', ['-c', 'echo first; echo second >&2; exit 3']);
    expect(result.ok).toBe(false);
    expect(lastLine(result.output)).toMatch(/first|second/);
  });

  test('an unknown command is reported in one line', async () => {
    const result = await run(process.execPath, ['start/bootstrap.mjs', 'fly']);
    expect(result.ok).toBe(false);
    expect(result.output).toMatch(/^(Compil.*\n)*holdfast: Unknown command 'fly'; use one of start, api, .*\n$/);
  });
});
