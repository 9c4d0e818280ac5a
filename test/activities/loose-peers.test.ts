import { afterEach, describe, expect, it } from 'vitest';
import { clickMouse, mousePosition, screenshot, typeText } from '../../browser-client/computer.ts';
import {
  createFolder,
  downloadFolder,
  fileInfo,
  listFiles,
  readFile,
  uploadZip,
  writeFile,
} from '../../browser-client/files.ts';
import { readLog } from '../../browser-client/logs.ts';
import { execProcess, followOutput, isRunning, killProcess, spawnProcess } from '../../browser-client/process.ts';
import { readWhole } from '../../browser-client/answers.ts';
import { createSession } from '../../browser-client/sessions.ts';
import type { LooseAnswer, LoosePeer } from './loose-peer.ts';
import { startLoosePeer } from './loose-peer.ts';

const target = { projectId: 'p', sessionId: 'session/ü 1' };
const SESSION = { body: JSON.stringify({ session_id: 'b', cdp_ws_url: 'ws://x/' }) };

let peer: LoosePeer;
afterEach(async () => {
  await peer.stop();
});

async function answering(answers: Record<string, LooseAnswer | LooseAnswer[]>): Promise<LoosePeer['service']> {
  peer = await startLoosePeer(answers);
  return peer.service;
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const event of events) found.push(event);
  return found;
}

describe('a session on a profile', () => {
  const opened = (service: LoosePeer['service']): Promise<unknown> =>
    createSession(service, 'p', { name: 'flow', profile: { name: 'of a person', save_changes: false } });

  it.each([400, 404])(
    'is opened once more where the service had no such profile, and said so by %d',
    async (status) => {
      const service = await answering({ 'POST /browsers': [{ status }, SESSION], 'POST /profiles': { status: 201 } });
      expect(await opened(service)).toMatchObject({ session_id: 'b' });
      expect(peer.asked).toEqual(['POST /browsers', 'POST /profiles', 'POST /browsers']);
      expect(peer.bodies[1]).toBe('{"name":"of a person"}');
      expect(peer.bodies[2]).toBe(peer.bodies[0]);
    },
  );

  it.each([409, 404, 500])('keeps the original error if the profile is not created (%d)', async (status) => {
    const service = await answering({ 'POST /browsers': { status: 400 }, 'POST /profiles': { status } });
    await expect(opened(service)).rejects.toMatchObject({ code: 'browser_error', retryable: false });
    expect(peer.asked).toEqual(['POST /browsers', 'POST /profiles']);
  });

  it('creates no profile if the session was not refused', async () => {
    const service = await answering({ 'POST /browsers': [{ status: 529 }, SESSION] });
    await expect(opened(service)).rejects.toMatchObject({ code: 'service_unavailable', retryable: true });
    expect(await opened(service)).toMatchObject({ session_id: 'b' });
    expect(peer.asked).toEqual(['POST /browsers', 'POST /browsers']);
  });
});

describe('errors', () => {
  it.each([
    [{ status: 404 }, 'session_gone', true],
    [{ status: 410, body: 'gone' }, 'session_gone', true],
    [{ status: 400, body: 'no json, and a password=secret' }, 'browser_error', true],
    [{ status: 401, body: '{"message":"without a code"}' }, 'browser_error', true],
    [{ status: 403, body: '<html>' }, 'browser_error', true],
    [{ status: 500 }, 'browser_error', false],
    [{ status: 502, body: 'Bad Gateway' }, 'browser_error', false],
    [{ status: 503 }, 'service_unavailable', false],
    [{ status: 529 }, 'service_unavailable', false],
  ] as const)('%j becomes %s', async (answer, code, isFinal) => {
    const service = await answering({ 'POST computer/click_mouse': answer, 'POST process/spawn': answer });
    const error = { code, retryable: !isFinal };
    await expect(clickMouse(service, target, { x: 1, y: 2 })).rejects.toMatchObject(error);
    const spawned = spawnProcess(service, target, { command: 'true' });
    await expect(spawned).rejects.toMatchObject(error);
    await expect(spawned).rejects.not.toThrow(/secret/);
    expect(peer.asked[0]).toBe('POST /browsers/session%2F%C3%BC%201/computer/click_mouse');
  });

  it.each([
    [429, '3', '3s'],
    [429, 'soon', '1s'],
    [529, undefined, '1s'],
  ])('%i with Retry-After %s waits %s', async (status, after, delay) => {
    const headers = after === undefined ? {} : { 'retry-after': after };
    const service = await answering({ 'POST computer/click_mouse': { status, headers } });
    await expect(clickMouse(service, target, { x: 1, y: 2 })).rejects.toMatchObject({
      retryable: true,
      retryAfterSeconds: Number.parseInt(delay),
    });
  });
});

describe('answers', () => {
  it('may be empty only if no content is expected', async () => {
    const service = await answering({
      'POST computer/click_mouse': { body: '' },
      'PUT fs/create_directory': { body: 'OK' },
      'PUT fs/write_file': { status: 201 },
      'POST fs/upload_zip': { status: 201 },
      'POST computer/get_mouse_position': { body: '' },
      'POST process/spawn': { body: '{"pid":1}' },
    });
    expect(await clickMouse(service, target, { x: 1, y: 2 })).toBeNull();
    expect(await createFolder(service, target, '/tmp/a')).toBeNull();
    await uploadZip(service, target, '/tmp/ü', Buffer.from('PK'));
    expect(peer.bodies.at(-1)).toMatch(
      /name="dest_path"\r\n\r\n\/tmp\/ü\r\n[^]*name="zip_file"; filename="archive.zip"/,
    );
    await writeFile(service, target, '/tmp/ü&b', Buffer.from('content'));
    expect(peer.asked.at(-1)).toMatch(/\/fs\/write_file\?path=%2Ftmp%2F%C3%BC%26b$/);
    expect(peer.bodies.at(-1)).toBe('content');
    const shapeless = { code: 'browser_error', retryable: false };
    await expect(mousePosition(service, target)).rejects.toMatchObject(shapeless);
    await expect(spawnProcess(service, target, { command: 'true' })).rejects.toMatchObject(shapeless);
  });

  it('may be interrupted, which is distinguished from an end', async () => {
    const headers = { 'content-length': '1000' };
    const half = { headers, body: 'half', cut: true };
    const service = await answering({
      'GET fs/download_dir_zip': half,
      'GET fs/read_file': half,
      'POST computer/screenshot': half,
    });
    const broken = { code: 'service_unavailable', retryable: true };
    await expect(screenshot(service, target)).rejects.toMatchObject(broken);
    await expect(readWhole(await downloadFolder(service, target, '/tmp'), 10)).rejects.toThrow('broke off');
    await expect(readWhole(await readFile(service, target, '/tmp/a'), 10)).rejects.toThrow('broke off');
    await expect(readWhole(await readFile(service, target, '/tmp/a'), 3)).rejects.toThrow('too large');
    await peer.stop();
    const cut = await answering({ 'GET fs/list_files': half, 'POST process/exec': half, 'POST computer/type': half });
    await expect(listFiles(cut, target, '/tmp')).rejects.toMatchObject(broken);
    await expect(execProcess(cut, target, { command: 'true', timeout_sec: 60 })).rejects.toMatchObject(broken);
    // Its status came: it has been typed.
    expect(await typeText(cut, target, { text: 'a' })).toBeNull();
  });
});

describe('processes', () => {
  it('that have ended are distinguished from ended sessions, whatever the status', async () => {
    for (const status of [404, 422, 500]) {
      const ended = await answering({
        'POST process/1/kill': { status, body: 'process already finished' },
        'GET process/1/status': { status: status === 422 ? 200 : status, body: '{"state":"exited","exit_code":0}' },
        'GET ': SESSION,
      });
      expect(await killProcess(ended, target, '1', 'INT')).toBe(false);
      expect(await isRunning(ended, target, '1')).toBe(false);
      await peer.stop();
    }
    const gone = await answering({ 'POST process/1/kill': { status: 404 }, 'GET process/1/status': { status: 404 } });
    await expect(killProcess(gone, target, '1')).rejects.toMatchObject({ code: 'session_gone' });
    await peer.stop();
    const alive = await answering({
      'POST process/1/kill': { status: 500 },
      'GET process/1/status': { body: '{"state":"running"}' },
    });
    await expect(killProcess(alive, target, '1')).rejects.toMatchObject({ code: 'browser_error', retryable: true });
  });

  it('that timed out are not retried, whether that is a 500 or an exit code', async () => {
    const service = await answering({ 'POST process/exec': { status: 500, delay: 1100 } });
    await expect(execProcess(service, target, { command: 'sleep', timeout_sec: 1 })).rejects.toMatchObject({
      code: 'browser_error',
      retryable: false,
    });
    await peer.stop();
    const early = await answering({ 'POST process/exec': { status: 500 } });
    await expect(execProcess(early, target, { command: 'sleep', timeout_sec: 60 })).rejects.toMatchObject({
      retryable: true,
    });
    await peer.stop();
    const sparse = await answering({ 'POST process/exec': { body: '{"exit_code":124,"extra":1}' } });
    const result = await execProcess(sparse, target, { command: 'sleep', timeout_sec: 1 });
    expect(result).toEqual({ exitCode: 124, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) });
  });

  it('have output with keep-alives and an end', async () => {
    const body = [
      ': keepalive',
      'data: {"event":"sse_heartbeat"}',
      'event: output\ndata: {"data_b64":"YQ=="}',
      'data: not json',
      'data: {"stream":"stderr","data_b64":"Yg=="}',
      'data: {"event":"exit","exit_code":3}',
      'data: {"stream":"stdout","data_b64":"Yw=="}',
      '',
    ].join('\n\n');
    const service = await answering({
      'GET process/1/stdout/stream': { body },
      'GET process/2/stdout/stream': { body: 'data: {"data_b64":"YQ=="}\n\n' },
      'GET process/3/stdout/stream': { body: 'data: {"event":"error","error":{"message":"secret"}}\n\n' },
    });
    expect(await all(followOutput(service, target, '1'))).toEqual([
      { stream: 'stdout', data: Buffer.from('a') },
      { stream: 'stderr', data: Buffer.from('b') },
      { exitCode: 3 },
    ]);
    for (const id of ['2', '3']) {
      const broken = all(followOutput(service, target, id));
      await expect(broken).rejects.toMatchObject({ code: 'browser_error', retryable: true });
      await expect(broken).rejects.not.toThrow(/secret/);
    }
  });
});

describe('files and logs', () => {
  it('may be null or lack optional members', async () => {
    const service = await answering({ 'GET fs/list_files': { body: 'null' }, 'GET ': SESSION });
    expect(await listFiles(service, target, '/tmp')).toEqual([]);
    await peer.stop();
    const sparse = await answering({
      'GET fs/list_files': { body: '[{"name":"a","path":"/tmp/a","is_dir":false,"size_bytes":1,"mode":"0644"}]' },
    });
    expect(await listFiles(sparse, target, '/tmp')).toEqual([
      { name: 'a', path: '/tmp/a', is_dir: false, size_bytes: 1 },
    ]);
    await peer.stop();
    const missing = await answering({ 'GET ': SESSION });
    expect(await listFiles(missing, target, '/tmp')).toBeNull();
    expect(await fileInfo(missing, target, '/tmp')).toBeNull();
    await expect(downloadFolder(missing, target, '/tmp')).rejects.toMatchObject({ code: 'browser_error' });
    await peer.stop();
    const gone = await answering({});
    await expect(listFiles(gone, target, '/tmp')).rejects.toMatchObject({ code: 'session_gone' });
  });

  it('may lack event and time in log frames', async () => {
    const body = [
      'data: {"message":"one"}',
      'data: {"event":"log","message":"two ü","timestamp":"yesterday"}',
      'data: {"event":"sse_heartbeat","timestamp":"2026-01-01T00:00:00Z"}',
      'data: {"event":"state","message":"another thing"}',
      'event: log\ndata: {"message":"three"}',
      '',
    ].join('\n\n');
    const service = await answering({ 'GET logs/stream': { body } });
    const log = { ...target, log: { part: 'chromium' as const }, follow: false };
    expect(await all(readLog(service, log))).toEqual(['one', 'two ü', 'three']);
    expect(peer.asked[0]).toMatch(/\?source=supervisor&supervisor_process=chromium&follow=false$/);
  });
});
