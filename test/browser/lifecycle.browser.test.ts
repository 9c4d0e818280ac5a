import { spawn } from 'node:child_process';
import type { IncomingMessage } from 'node:http';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { chromium } from 'playwright-core';
import { z } from 'zod';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { WebSocket } from 'ws';
import { browserIn, processesWith } from './running-processes.ts';
import { serviceProgram } from './service-program.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { eventually, startService } from './service-under-test.ts';

let service: ServiceUnderTest | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

describe('sessions', () => {
  it('end when idle, but not while a client is connected', async () => {
    service = await startService();
    const { kernel } = service;
    const used = await kernel.browsers.create({ timeout_seconds: 10 });
    const browser = await chromium.connectOverCDP(used.cdp_ws_url);
    // It starts later, so once it has timed out, the other one would have too.
    const alone = await kernel.browsers.create({ timeout_seconds: 10 });
    await eventually(() => expect(kernel.browsers.retrieve(alone.session_id)).rejects.toThrow('it was idle'));
    expect((await kernel.browsers.retrieve(used.session_id)).session_id).toBe(used.session_id);
    await browser.close();
  });

  it('end when the browser crashes, and disconnect their clients', async () => {
    service = await startService();
    const { kernel, workDir } = service;
    const session = await kernel.browsers.create();
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    const disconnected = new Promise((resolve) => browser.once('disconnected', resolve));
    process.kill(await browserIn(workDir), 'SIGKILL');
    await eventually(() => expect(kernel.browsers.retrieve(session.session_id)).rejects.toMatchObject({ status: 404 }));
    await disconnected;
    await expect(kernel.browsers.retrieve(session.session_id)).rejects.toThrow('its browser crashed (SIGKILL)');
    const read = await kernel.browsers.retrieve(session.session_id, { include_deleted: true });
    expect(read.deleted_at).toBeDefined();
    await eventually(async () => {
      expect(await processesWith(workDir)).toEqual([]);
    });
    await eventually(async () => {
      expect(await readdir(path.join(workDir, 'sessions'))).toEqual([]);
    });
  });

  it('are limited in number, and refusals say when to retry', async () => {
    service = await startService({ maxSessions: 1 });
    const first = await service.kernel.browsers.create();
    await expect(service.kernel.browsers.create()).rejects.toSatisfy((error: { status: number; headers: Headers }) => {
      return error.status === 529 && Number(error.headers.get('retry-after')) > 0;
    });
    await service.kernel.browsers.deleteByID(first.session_id);
    await service.kernel.browsers.create();
  });

  it('have unique names within a project', async () => {
    service = await startService();
    const first = await service.kernel.browsers.create({ name: 'one' });
    await expect(service.kernel.browsers.create({ name: 'one' })).rejects.toMatchObject({ status: 409 });
    const elsewhere = { headers: { 'x-kernel-project-id': 'prj_other' } };
    await expect(service.kernel.browsers.retrieve('one', undefined, elsewhere)).rejects.toMatchObject({ status: 404 });
    await expect(service.kernel.browsers.retrieve(first.session_id, undefined, elsewhere)).rejects.toMatchObject({
      status: 404,
    });
    await expect(service.kernel.browsers.deleteByID(first.session_id, elsewhere)).rejects.toMatchObject({
      status: 404,
    });
    expect((await service.kernel.browsers.list(undefined, elsewhere)).getPaginatedItems()).toEqual([]);

    // A caller with access to both projects sees both; a name resolves in the first project first.
    const both = { headers: { ...elsewhere.headers, 'x-holdfast-projects': 'prj_other,prj_default' } };
    expect((await service.kernel.browsers.retrieve('one', undefined, both)).session_id).toBe(first.session_id);
    const { session_id: second } = await service.kernel.browsers.create({ name: 'one' }, elsewhere);
    expect((await service.kernel.browsers.retrieve('one', undefined, both)).session_id).toBe(second);
    const listed = (await service.kernel.browsers.list(undefined, both)).getPaginatedItems();
    expect(listed.map(({ session_id: id }) => id)).toEqual([second, first.session_id]);
    const { kernel } = service;
    const usage = (of: typeof both | typeof elsewhere) => kernel.get<unknown>('/session_usage', of);
    expect(await usage(both)).toMatchObject({ used: 2 });
    const before = z.object({ used: z.literal(1), available: z.int() }).parse(await usage(elsewhere));
    await service.kernel.browsers.deleteByID(first.session_id, both);
    expect(await usage(elsewhere)).toEqual({ used: 1, available: before.available + 1 });
    await expect(service.kernel.browsers.retrieve(first.session_id)).rejects.toMatchObject({ status: 404 });
  });

  it('keep their folders private', async () => {
    service = await startService();
    await service.kernel.browsers.create();
    const folder = path.join(service.workDir, 'sessions');
    const [name] = await readdir(folder);
    expect((await stat(path.join(folder, name ?? ''))).mode & 0o777).toBe(0o700);
  });
});

describe('the CDP endpoint', () => {
  it('refuses missing and wrong tokens, and those of another session', async () => {
    service = await startService();
    const [first, second] = await Promise.all([service.kernel.browsers.create(), service.kernel.browsers.create()]);
    const open = (url: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = new WebSocket(url);
        socket.on('open', () => {
          socket.close();
          resolve('open');
        });
        socket.on('unexpected-response', (_request, response) => {
          resolve(String(response.statusCode));
        });
        socket.on('error', () => undefined);
      });
    const bare = first.cdp_ws_url.split('?')[0] ?? '';
    const token = new URL(first.cdp_ws_url).searchParams.get('jwt') ?? '';
    expect(await open(first.cdp_ws_url)).toBe('open');
    expect(await open(bare)).toBe('401');
    expect(await open(`${bare}?jwt=x`)).toBe('401');
    expect(await open(second.cdp_ws_url.replace(/jwt=.*/, `jwt=${token}`))).toBe('401');
    expect(await open(first.webdriver_ws_url)).toBe('open');
    expect(await open(first.webdriver_ws_url.replace(/jwt=.*/, `jwt=${token}`))).toBe('401');
    expect(await open(first.cdp_ws_url.replace('/cdp', '/nothing'))).toBe('404');
    await service.kernel.browsers.deleteByID(first.session_id);
    expect(await open(first.cdp_ws_url)).toBe('404');
  });

  it.each([
    ['cdp_ws_url', 16],
    ['webdriver_ws_url', 4],
  ] as const)('limits connections to its %s, and says when to retry', async (kind, most) => {
    service = await startService();
    const session = await service.kernel.browsers.create();
    const sockets: WebSocket[] = [];
    const refused = await new Promise<IncomingMessage>((resolve) => {
      const next = (): void => {
        const socket = new WebSocket(session[kind]);
        sockets.push(socket);
        socket.on('error', () => undefined);
        socket.on('open', next);
        socket.on('unexpected-response', (_request, response) => {
          resolve(response);
        });
      };
      next();
    });
    expect(sockets).toHaveLength(most + 1);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5']);
    expect(JSON.parse(await text(refused))).toMatchObject({ code: 'rate_limited' });
    sockets[0]?.close();
    await eventually(async () => {
      const socket = new WebSocket(session[kind]);
      socket.on('error', () => undefined);
      await new Promise((resolve, reject) => socket.on('open', resolve).on('unexpected-response', reject));
    });
    for (const socket of sockets) socket.terminate();
  });

  it('answers malformed messages and stays connected', async () => {
    service = await startService();
    const session = await service.kernel.browsers.create();
    const socket = new WebSocket(session.cdp_ws_url);
    await new Promise((resolve) => socket.once('open', resolve));
    const answers: Record<string, unknown>[] = [];
    socket.on('message', (data: Buffer) => answers.push(JSON.parse(data.toString()) as Record<string, unknown>));
    for (const text of [
      '',
      '{',
      'null',
      '[]',
      '{"id":1}',
      '{"id":"x","method":"Browser.getVersion"}',
      '{"id":2,"method":"Browser.getVersion","params":5}',
    ])
      socket.send(text);
    socket.send(Buffer.from([1, 2, 3]));
    socket.send(
      '{"id":3,"method":"Page.navigate","params":{"url":"https://example.com"},"method":"Page.navigate","params":{"url":"file:///etc/passwd"}}',
    );
    socket.send('{"id":9,"method":"Browser.getVersion"}');
    await eventually(() => {
      expect(answers.at(-1)).toMatchObject({ id: 9, result: { protocolVersion: '1.3' } });
    });
    expect(answers.filter((answer) => answer['id'] === undefined)).toHaveLength(8);
    expect(answers.find((answer) => answer['id'] === 3)).toHaveProperty('error');
    socket.close();
  });

  it('disconnects clients when the session is deleted', async () => {
    service = await startService();
    const session = await service.kernel.browsers.create();
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    const disconnected = new Promise((resolve) => browser.once('disconnected', resolve));
    await service.kernel.browsers.deleteByID(session.session_id);
    await disconnected;
  });
});

describe('the service', () => {
  it('uses prewarmed browsers for any viewport, with profiles too', async () => {
    service = await startService({ warmBrowsers: 1 });
    const { kernel, workDir, profiles } = service;
    const names = (): Promise<string[]> => readdir(path.join(workDir, 'sessions'));
    await eventually(async () => {
      expect(await names()).toEqual([expect.stringMatching(/^warm-/)]);
    });
    profiles.create('p');
    const session = await kernel.browsers.create({
      stealth: true,
      viewport: { width: 640, height: 480 },
      profile: { name: 'p' },
    });
    expect((await names()).every((name) => name.startsWith('warm-'))).toBe(true);
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    const page = browser.contexts()[0]?.pages()[0];
    expect(await page?.evaluate(() => [innerWidth, innerHeight])).toEqual([640, 480]);
    await browser.close();
    await eventually(async () => {
      expect(await names()).toHaveLength(2);
    });
  });

  it('leaves no browser and no program behind when it is killed, and cleans up leftovers', async () => {
    const workDir = await mkdtemp(path.join(os.tmpdir(), 'holdfast-killed-'));
    const child = spawn(process.execPath, [serviceProgram('run-service'), workDir, inject('chromiumPath')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (data: Buffer) => {
        if (data.toString().includes('ready')) resolve();
      });
      child.once('exit', () => {
        reject(new Error('the service ended'));
      });
    });
    expect((await processesWith(workDir)).length).toBeGreaterThan(1);
    await eventually(async () => {
      expect((await processesWith(`done\0${workDir}`)).length).toBeGreaterThan(1);
    });
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
    await eventually(async () => {
      expect(await processesWith(workDir)).toEqual([]);
    });
    expect(await readdir(path.join(workDir, 'sessions'))).not.toEqual([]);
    service = await startService({ workDir });
    expect(await readdir(workDir)).toEqual([]);
    await rm(workDir, { recursive: true, force: true });
  });
});
