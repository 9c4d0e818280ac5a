import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { API_KEY } from './memory-profiles.ts';
import type { ForkedService } from './service-as-user.ts';
import { startServiceAsUser } from './service-as-user.ts';

const MEGABYTE = 1024 * 1024;
/** Frequent samples would slow down what is measured. */
const SAMPLE_INTERVAL_MS = 20;
/** Allowed memory growth: buffers and uncollected garbage. */
const GROWTH_BYTES = 120 * MEGABYTE;

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

async function* piecesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return;
    yield piece.value;
  }
}

/** Defines the tests of downloading and uploading sparse files of this size. */
export function testLargeFiles(megabytes: number): void {
  const fileBytes = megabytes * MEGABYTE;

  it(`download_dir_zip streams ${String(2 * megabytes)} MB with limited memory`, async () => {
    await withSession(async ({ service, id, folder }) => {
      const { kernel } = service;
      const line = `mkdir -p large/inner && truncate -s ${String(fileBytes)} large/one large/inner/two && echo end > large/zz`;
      expect((await kernel.browsers.process.exec(id, { command: 'sh', args: ['-c', line] })).exit_code).toBe(0);
      const archive = path.join(folder, 'large.zip');
      const most = await growth(service.pid, async () => {
        const answer = await kernel.browsers.fs.downloadDirZip(id, { path: '/home/user/large' });
        await writeFile(archive, piecesOf(answer.body));
      });
      expect(most).toBeLessThan(GROWTH_BYTES);
      const sizes = execFileSync('unzip', ['-l', archive], { encoding: 'utf8' });
      for (const name of ['one', 'inner/two'])
        expect(sizes).toMatch(new RegExp(`^ *${String(fileBytes)} .* ${name}$`, 'm'));
      expect(execFileSync('unzip', ['-p', archive, 'zz'], { encoding: 'utf8' })).toBe('end\n');
    });
  });

  it(`write_file accepts ${String(megabytes)} MB with limited memory`, async () => {
    await withSession(async ({ service, id, folder }) => {
      const large = path.join(folder, 'large');
      execFileSync('truncate', ['-s', String(fileBytes), large]);
      const most = await growth(service.pid, async () => {
        expect(await put(`${service.url}/browsers/${id}/fs/write_file?path=/home/user/large`, large)).toBe(200);
      });
      expect(most).toBeLessThan(GROWTH_BYTES);
      const { size_bytes: size } = await service.kernel.browsers.fs.fileInfo(id, { path: '/home/user/large' });
      expect(size).toBe(fileBytes);
    });
  });
}

interface Session {
  service: ForkedService;
  id: string;
  folder: string;
}

async function withSession(action: (session: Session) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'holdfast-large-'));
  const service = await startServiceAsUser({ ordinary: false });
  try {
    const { session_id: id } = await service.kernel.browsers.create({ timeout_seconds: 600 });
    await action({ service, id, folder });
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Peak memory growth of a process during `action`, in bytes. */
async function growth(pid: number, action: () => Promise<void>): Promise<number> {
  const before = await residentBytes(pid);
  const state = { isDone: false, peak: 0 };
  const acting = action().finally(() => (state.isDone = true));
  while (!state.isDone) {
    state.peak = Math.max(state.peak, (await residentBytes(pid)) - before);
    await Promise.race([acting, setTimeout(SAMPLE_INTERVAL_MS)]);
  }
  await acting;
  return state.peak;
}

/** Uploads a file as a stream, which the public client would read into memory first; returns the status. */
function put(url: string, file: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      url,
      { method: 'PUT', headers: { authorization: `Bearer ${API_KEY}` } },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    request.on('error', reject);
    createReadStream(file).pipe(request);
  });
}
