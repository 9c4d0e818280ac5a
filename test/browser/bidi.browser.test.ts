import puppeteer from 'puppeteer-core';
import { afterAll, describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { browserIn } from './running-processes.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let site: Site;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({
    '/': '<title>Home</title><input id=a autofocus style="position:absolute;left:50px;top:50px;width:200px">',
  });
});
afterAll(() => {
  site.close();
});

interface BidiAnswer {
  type: string;
  id?: number | null;
  error?: string;
  message?: string;
  method?: string;
  result?: Record<string, unknown>;
  params?: Record<string, unknown>;
}

/** A minimal standard client: one websocket, commands by id. */
async function connect(url: string) {
  const socket = new WebSocket(url);
  const received: BidiAnswer[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', (data: Buffer) => {
    received.push(JSON.parse(data.toString('utf8')) as BidiAnswer);
    for (const wake of waiting) wake();
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const next = async (matches: (message: BidiAnswer) => boolean): Promise<BidiAnswer> => {
    for (;;) {
      const found = received.find(matches);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          resolve();
        };
        waiting.add(wake);
      });
    }
  };
  let lastId = 0;
  const send = (method: string, params: unknown = {}): Promise<BidiAnswer> => {
    const id = (lastId += 1);
    socket.send(JSON.stringify({ id, method, params }));
    return next((message) => message.id === id);
  };
  const evaluate = async (context: unknown, expression: string): Promise<unknown> => {
    const target = { context };
    const answer = await send('script.evaluate', { expression, target, awaitPromise: true });
    return (answer.result?.['result'] as { value?: unknown } | undefined)?.value;
  };
  return { socket, closed, received, next, send, evaluate };
}

const begin = { capabilities: { alwaysMatch: {} } };

describe('the WebDriver BiDi endpoint', () => {
  it('serves a standard client: pages, scripts, input and events', async () => {
    const session = await service.kernel.browsers.create();
    const client = await connect(session.webdriver_ws_url);
    expect(await client.send('browsingContext.getTree')).toMatchObject({ type: 'error', error: 'invalid session id' });
    expect(await client.send('session.status')).toMatchObject({ result: { ready: true } });
    const created = await client.send('session.new', begin);
    expect(created).toMatchObject({ type: 'success', result: { capabilities: { acceptInsecureCerts: false } } });
    expect(String(created.result?.['sessionId'])).toMatch(/^[\da-f-]{36}$/);
    expect(await client.send('session.new', begin)).toMatchObject({ error: 'session not created' });

    await client.send('session.subscribe', { events: ['browsingContext.load', 'log.entryAdded'] });
    const { result } = await client.send('browsingContext.create', { type: 'tab' });
    const context = result?.['context'];
    const navigated = await client.send('browsingContext.navigate', {
      context,
      url: `${site.origin}/`,
      wait: 'complete',
    });
    expect(navigated.result?.['url']).toBe(`${site.origin}/`);
    expect(await client.evaluate(context, 'document.title')).toBe('Home');
    await client.next((message) => message.method === 'browsingContext.load');

    const keys = Array.from('Bidi!').flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    const pointer = [
      { type: 'pointerMove', x: 100, y: 60 },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ];
    await client.send('input.performActions', { context, actions: [{ type: 'pointer', id: 'm', actions: pointer }] });
    await client.send('input.performActions', { context, actions: [{ type: 'key', id: 'k', actions: keys }] });
    expect(await client.evaluate(context, 'a.value')).toBe('Bidi!');
    await client.evaluate(context, 'console.log("told")');
    const entry = await client.next((message) => message.method === 'log.entryAdded');
    expect(entry.params?.['text']).toBe('told');

    expect(await client.send('session.end')).toMatchObject({ type: 'success' });
    await client.closed;
    expect((await service.kernel.browsers.retrieve(session.session_id)).deleted_at).toBeUndefined();
    await service.kernel.browsers.deleteByID(session.session_id);
  });

  it('serves Puppeteer', async () => {
    const session = await service.kernel.browsers.create();
    const browser = await puppeteer.connect({
      browserWSEndpoint: session.webdriver_ws_url,
      protocol: 'webDriverBiDi',
      defaultViewport: null,
    });
    const page = await browser.newPage();
    await page.goto(`${site.origin}/`);
    expect(await page.title()).toBe('Home');
    await page.type('#a', 'typed');
    expect(await page.$eval('#a', (input) => (input as unknown as { value: string }).value)).toBe('typed');
    await browser.close();
    await service.kernel.browsers.deleteByID(session.session_id);
  });

  it('applies the CDP guard: no host files, other schemes, proxies or extensions', async () => {
    const session = await service.kernel.browsers.create();
    const client = await connect(session.webdriver_ws_url);
    await client.send('session.new', begin);
    const { result } = await client.send('browsingContext.create', { type: 'tab' });
    const context = result?.['context'];
    for (const url of ['file:///etc/passwd', 'chrome://version/', 'view-source:http://localhost/']) {
      expect(await client.send('browsingContext.navigate', { context, url, wait: 'complete' })).toMatchObject({
        type: 'error',
      });
    }
    const cdp = (method: string, params: unknown) => client.send('goog:cdp.sendCommand', { method, params });
    expect(await cdp('Page.navigate', { url: 'file:///etc/passwd' })).toMatchObject({ type: 'error' });
    expect(await cdp('Target.createBrowserContext', { proxyServer: 'direct://' })).toMatchObject({ type: 'error' });
    expect(await cdp('Browser.crash', {})).toMatchObject({ type: 'error' });
    const proxy = { proxyType: 'manual', httpProxy: 'example.com:80' };
    expect(await client.send('browser.createUserContext', { proxy })).toMatchObject({ type: 'error' });
    const extensionData = { type: 'path', path: '/tmp' };
    expect(await client.send('webExtension.install', { extensionData })).toMatchObject({ type: 'error' });
    await client.send('browsingContext.navigate', { context, url: `${site.origin}/`, wait: 'complete' });
    await client.evaluate(context, 'a.type = "file"');
    const located = await client.send('browsingContext.locateNodes', {
      context,
      locator: { type: 'css', value: '#a' },
    });
    const element = (located.result?.['nodes'] as { sharedId: string }[] | undefined)?.[0];
    expect(await client.send('input.setFiles', { context, element, files: ['/etc/passwd'] })).toMatchObject({
      type: 'error',
    });
    expect(await client.evaluate(context, 'a.files.length')).toBe(0);
    client.socket.close();
    await service.kernel.browsers.deleteByID(session.session_id);
  });

  it('accepts only its own token, and each endpoint only tokens of its purpose', async () => {
    const session = await service.kernel.browsers.create();
    const swap = (from: string, to: string): string => `${to.split('?')[0] ?? ''}?${from.split('?')[1] ?? ''}`;
    const { cdp_ws_url: cdp, webdriver_ws_url: bidi } = session;
    for (const url of [swap(cdp, bidi), swap(bidi, cdp), bidi.split('?')[0] ?? '']) {
      const status = await new Promise((resolve) => {
        new WebSocket(url)
          .on('unexpected-response', (_request, response) => {
            resolve(response.statusCode);
          })
          .on('error', () => undefined);
      });
      expect(status).toBe(401);
    }
    await service.kernel.browsers.deleteByID(session.session_id);
  });

  it('survives malformed messages, a client that disconnects mid-command, and a killed browser', async () => {
    const session = await service.kernel.browsers.create();
    const broken = await connect(session.webdriver_ws_url);
    for (const text of ['', '{', '[]', 'null', '{"id":-1}', '{"id":1}', '{"id":"x","method":"session.new"}', '\0'])
      broken.socket.send(text);
    broken.socket.send(Buffer.from([0xff, 0xfe]));
    broken.socket.send(JSON.stringify({ id: 7, method: 'session.new', params: { capabilities: 5 } }));
    await broken.next((message) => message.id === 7);
    expect(broken.received.filter((message) => message.error === 'invalid argument').length).toBeGreaterThanOrEqual(9);
    broken.socket.terminate();

    const leaving = await connect(session.webdriver_ws_url);
    await leaving.send('session.new', begin);
    void leaving.send('browsingContext.create', { type: 'tab' });
    leaving.socket.terminate();

    const watching = await connect(session.webdriver_ws_url);
    await watching.send('session.new', begin);
    const { result } = await watching.send('browsingContext.create', { type: 'tab' });
    void watching.send('script.evaluate', {
      expression: 'new Promise(() => {})',
      target: { context: result?.['context'] },
      awaitPromise: true,
    });
    process.kill(await browserIn(service.workDir), 'SIGKILL');
    await watching.closed;
    await eventually(() =>
      expect(service.kernel.browsers.retrieve(session.session_id)).rejects.toThrow('its browser crashed'),
    );
    const next = await service.kernel.browsers.create();
    const again = await connect(next.webdriver_ws_url);
    expect(await again.send('session.new', begin)).toMatchObject({ type: 'success' });
    again.socket.close();
    await service.kernel.browsers.deleteByID(next.session_id);
  });
});
