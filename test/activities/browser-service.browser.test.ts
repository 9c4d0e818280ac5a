import { afterAll, describe, expect } from 'vitest';
import {
  batch,
  clickMouse,
  dragMouse,
  mousePosition,
  moveMouse,
  screenshot,
  scroll,
  setCursor,
} from '../../browser-client/computer.ts';
import {
  createFolder,
  deleteFile,
  deleteFolder,
  downloadFolder,
  fileInfo,
  listFiles,
  move,
  readFile,
  setFilePermissions,
  uploadFiles,
  uploadZip,
  writeFile,
} from '../../browser-client/files.ts';
import { readLog } from '../../browser-client/logs.ts';
import {
  execProcess,
  followOutput,
  isRunning,
  killProcess,
  resizeTerminal,
  spawnProcess,
  writeInput,
} from '../../browser-client/process.ts';
import type { BrowserService } from '../../browser-client/service.ts';
import { readWhole } from '../../browser-client/answers.ts';
import { createBrowserService } from '../../browser-client/service.ts';
import type { ServiceUnderTest } from '../browser/service-under-test.ts';
import { API_KEY } from '../browser/service-under-test.ts';
import { it } from '../browser/shared-service.ts';

/** The activities' own callers, on the browser service that Holdfast comes with. */
let running: ServiceUnderTest;
let service: BrowserService;
let target: { projectId: string; sessionId: string };
it.beforeAll(async ({ service: shared }) => {
  running = shared;
  service = createBrowserService({ baseUrl: running.handle.url, apiKey: API_KEY });
  const created = await running.kernel.browsers.create({ timeout_seconds: 600 });
  const projectId = 'prj_default';
  target = { projectId, sessionId: created.session_id };
});
afterAll(async () => {
  await service.close();
});

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const event of events) found.push(event);
  return found;
}

describe('processes', () => {
  it('run, report their status and output, and are stopped', async () => {
    const result = await execProcess(service, target, {
      command: 'sh',
      args: ['-c', 'echo ü; exit 4'],
      timeout_sec: 30,
    });
    expect([result.exitCode, result.stdout.toString()]).toEqual([4, 'ü\n']);
    const { processId } = await spawnProcess(service, target, { command: 'cat', timeout_sec: 60 });
    expect(await isRunning(service, target, processId)).toBe(true);
    await writeInput(service, target, processId, Buffer.from('typed'));
    const said = followOutput(service, target, processId);
    expect((await said.next()).value).toEqual({ stream: 'stdout', data: Buffer.from('typed') });
    expect(await killProcess(service, target, processId, 'INT')).toBe(true);
    expect(await all(said)).toEqual([{ exitCode: 130 }]);
    expect(await killProcess(service, target, processId, 'INT')).toBe(false);
    expect(await isRunning(service, target, processId)).toBe(false);
    expect(await isRunning(service, target, 'nobody')).toBe(false);
  });

  it('have terminals that can be resized', async () => {
    const spawned = await spawnProcess(service, target, {
      command: 'sh',
      args: ['-c', 'read line; stty size'],
      allocate_tty: true,
    });
    await resizeTerminal(service, target, spawned.processId, { cols: 123, rows: 45 });
    await writeInput(service, target, spawned.processId, Buffer.from('\n'));
    const output = await all(followOutput(service, target, spawned.processId));
    expect(output.map((piece) => ('data' in piece ? piece.data.toString() : piece.exitCode)).join('')).toMatch(
      /45 123\r\n0$/,
    );
  });
});

describe('files and logs', () => {
  it('are written, listed, moved, downloaded and deleted', async () => {
    await createFolder(service, target, '/tmp/a ü');
    await writeFile(service, target, '/tmp/a ü/b', Buffer.from('content'));
    await move(service, target, '/tmp/a ü/b', '/tmp/a ü/c');
    await setFilePermissions(service, target, '/tmp/a ü/c', '640');
    expect(await fileInfo(service, target, '/tmp/a ü/c')).toMatchObject({ name: 'c', is_dir: false, size_bytes: 7 });
    expect(await fileInfo(service, target, '/tmp/a ü/none')).toBeNull();
    expect((await listFiles(service, target, '/tmp/a ü'))?.map(({ name }) => name)).toEqual(['c']);
    expect((await readWhole(await readFile(service, target, '/tmp/a ü/c'), 100)).toString()).toBe('content');
    const archive = await readWhole(await downloadFolder(service, target, '/tmp/a ü'), 10_000);
    expect(archive.subarray(0, 2).toString()).toBe('PK');
    await uploadZip(service, target, '/tmp/a ü/unpacked', archive);
    await uploadFiles(service, target, [
      { path: '/tmp/a ü/unpacked/d', content: Buffer.from('one') },
      { path: '/tmp/a ü/unpacked/e', content: Buffer.from('two') },
    ]);
    expect((await listFiles(service, target, '/tmp/a ü/unpacked'))?.map(({ name }) => name)).toEqual(['c', 'd', 'e']);
    expect((await readWhole(await readFile(service, target, '/tmp/a ü/unpacked/c'), 100)).toString()).toBe('content');
    await deleteFile(service, target, '/tmp/a ü/c');
    await deleteFolder(service, target, '/tmp/a ü');
    expect(await listFiles(service, target, '/tmp/a ü')).toBeNull();
    await expect(downloadFolder(service, target, '/tmp/a ü')).rejects.toMatchObject({ code: 'browser_error' });
  });

  it('are read line by line', async () => {
    await writeFile(service, target, '/var/log/own.log', Buffer.from('one\ntwo\n'));
    const own = { ...target, log: { path: '/var/log/own.log' }, follow: false };
    expect(await all(readLog(service, own))).toEqual(['one', 'two']);
    const stop = new AbortController();
    const lines = readLog(service, { ...own, follow: true }, stop.signal);
    expect((await lines.next()).value).toBe('one');
    expect((await lines.next()).value).toBe('two');
    const third = lines.next();
    stop.abort();
    await expect(third).rejects.toThrow();
    expect((await all(readLog(service, { ...own, log: { part: 'chromium' } }))).join('\n')).toContain('DevTools');
  });
});

describe('mouse and screen', () => {
  it('perform actions', async () => {
    await moveMouse(service, target, { x: 10, y: 20, smooth: false });
    expect(await mousePosition(service, target)).toEqual({ x: 10, y: 20 });
    await clickMouse(service, target, { x: 30, y: 40 });
    await scroll(service, target, { x: 30, y: 40, delta_y: 1 });
    await dragMouse(service, target, {
      path: [
        [1, 1],
        [50, 60],
      ],
      smooth: false,
      step_delay_ms: 0,
    });
    expect(await mousePosition(service, target)).toEqual({ x: 50, y: 60 });
    await setCursor(service, target, { hidden: false });
    await batch(service, target, { actions: [{ type: 'move_mouse', move_mouse: { x: 5, y: 6, smooth: false } }] });
    expect(await mousePosition(service, target)).toEqual({ x: 5, y: 6 });
    expect((await screenshot(service, target)).subarray(1, 4).toString()).toBe('PNG');
  });
});

describe('an ended session', () => {
  it('is gone for all operations', async () => {
    const ended = { projectId: target.projectId, sessionId: 'brw_none' };
    const gone = { code: 'session_gone', retryable: false };
    await expect(spawnProcess(service, ended, { command: 'true' })).rejects.toMatchObject(gone);
    await expect(killProcess(service, ended, '1')).rejects.toMatchObject(gone);
    await expect(listFiles(service, ended, '/')).rejects.toMatchObject(gone);
    await expect(all(readLog(service, { ...ended, log: { part: 'chromium' }, follow: false }))).rejects.toMatchObject(
      gone,
    );
    await expect(clickMouse(service, ended, { x: 1, y: 1 })).rejects.toMatchObject(gone);
  });
});
