import { execFileSync } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { startServiceAsUser } from './service-as-user.ts';

const MEGABYTE = 1024 * 1024;
/** More than 2 GB together, with hardly a block on the disk. */
const FILE_BYTES = 1040 * MEGABYTE;
/** What the service may grow by: buffers on their way, and garbage that waits for its collection. */
const GROWTH_BYTES = 120 * MEGABYTE;

/** All the memory of a process. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

it('download_dir_zip streams more than 2 GB in the memory that it has', { timeout: 300_000 }, async () => {
  const service = await startServiceAsUser({ ordinary: false });
  const folder = await mkdtemp(path.join(os.tmpdir(), 'holdfast-archive-'));
  try {
    const { kernel } = service;
    const { session_id: id } = await kernel.browsers.create({ timeout_seconds: 600 });
    const line = `mkdir -p large/inner && truncate -s ${String(FILE_BYTES)} large/one large/inner/two && echo end > large/zz`;
    expect((await kernel.browsers.process.exec(id, { command: 'sh', args: ['-c', line] })).exit_code).toBe(0);
    const before = await residentBytes(service.pid);
    const answer = await kernel.browsers.fs.downloadDirZip(id, { path: '/home/user/large' });
    let most = 0;
    let measured = 0;
    const archive = path.join(folder, 'large.zip');
    const reader = answer.body?.getReader();
    for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
      await appendFile(archive, piece.value);
      most = Math.max(most, (await residentBytes(service.pid)) - before);
      measured += 1;
    }
    expect(measured).toBeGreaterThan(20);
    expect(most).toBeLessThan(GROWTH_BYTES);
    const sizes = execFileSync('unzip', ['-l', archive], { encoding: 'utf8' });
    for (const name of ['one', 'inner/two'])
      expect(sizes).toMatch(new RegExp(`^ *${String(FILE_BYTES)} .* ${name}$`, 'm'));
    expect(execFileSync('unzip', ['-p', archive, 'zz'], { encoding: 'utf8' })).toBe('end\n');
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
