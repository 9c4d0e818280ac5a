import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lockDataDir } from '../../start/data-lock.ts';
import { isSameProcess, processIdentity } from '../../start/process-identity.ts';

describe('lock of the data folder', () => {
  let dataDir = '';
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'holdfast-lock-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  test('a second start is rejected while the first runs, and accepted afterwards', async () => {
    const first = await lockDataDir(dataDir);
    await expect(lockDataDir(dataDir)).rejects.toThrow(/is already running on .*HOLDFAST_DATA_DIR/);
    await first.release();
    await (await lockDataDir(dataDir)).release();
  });

  test('one of ten concurrent starts gets the lock', async () => {
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => lockDataDir(dataDir)));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });

  test('the lock of a killed start is taken over', async () => {
    await mkdir(join(dataDir, 'run'));
    // Our own process id with another start time: a number that the system has given out again.
    await writeFile(join(dataDir, 'run', 'supervisor.pid'), `${process.pid} 1`);
    await (await lockDataDir(dataDir)).release();
    expect(await readdir(join(dataDir, 'run'))).toEqual([]);
  });

  test('leftover processes of a killed start are ended before the folder is used', async () => {
    const orphan = spawn('/bin/sleep', ['300'], { detached: true, stdio: 'ignore' });
    orphan.unref();
    const identity = processIdentity(orphan.pid ?? 0) ?? '';
    await mkdir(join(dataDir, 'run'));
    await writeFile(join(dataDir, 'run', 'store.child'), identity);
    const lock = await lockDataDir(dataDir, 200);
    expect(isSameProcess(identity)).toBe(false);
    await lock.release();
  });
});
