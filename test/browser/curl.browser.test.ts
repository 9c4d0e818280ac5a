import type { ServerResponse } from 'node:http';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { containing, eventually, startService, startSite } from './service-under-test.ts';

let service: ServiceUnderTest;
let site: Site;
let id: string;
let cdpUrl: string;
let answered = 0;
const held: ServerResponse[] = [];
beforeAll(async () => {
  service = await startService({
    resolver: async (host) => [{ address: host === 'inside.test' ? '10.0.0.7' : '127.0.0.1', family: 4 }],
  });
  site = await startSite({
    '/': '<script>document.title = "ran"; fetch("/ran")</script>',
    '/echo': (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const { method, headers } = request;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ method, headers, body: Buffer.concat(pieces).toString() }));
      });
    },
    '/login': (_, response) => {
      response.setHeader('set-cookie', ['sid=1; HttpOnly; SameSite=Strict', 'b=2']);
      response.setHeader('x-many', ['one', 'two']);
      response.end('in');
    },
    '/hop': (_, response) => response.writeHead(302, { location: '/echo', 'set-cookie': 'hop=3' }).end(),
    '/loop': (_, response) => response.writeHead(302, { location: '/loop' }).end(),
    '/inside': (_, response) => response.writeHead(302, { location: 'http://inside.test/' }).end(),
    '/literal': (_, response) => response.writeHead(302, { location: 'http://10.0.0.7/' }).end(),
    '/file': (_, response) => {
      response.writeHead(404, { 'content-disposition': 'attachment; filename=a', 'content-type': 'x/y' });
      response.end(Buffer.from([0, 255, 1, 254]));
    },
    '/none': (_, response) => response.writeHead(204).end(),
    '/auth': (_, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm=a' }).end('who?'),
    '/count': (_, response) => {
      response.setHeader('cache-control', 'max-age=1000');
      response.end(String(++answered));
    },
    '/never': () => undefined,
    '/hold': (_, response) => void held.push(response),
    '/stuck': (_, response) => void response.write('a'),
    '/cut': (request, response) => {
      response.writeHead(200, { 'content-length': '5' });
      response.write('a', () => request.socket.destroy());
    },
    '/huge': (_, response) => {
      response.end(Buffer.alloc(11 * 1024 * 1024, 'x'));
    },
    '/gzip': (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(Buffer.from('H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==', 'base64'));
    },
  });
  const session = await service.kernel.browsers.create({ stealth: true, timeout_seconds: 600 });
  id = session.session_id;
  cdpUrl = session.cdp_ws_url;
});
afterAll(async () => {
  await service.stop();
  site.close();
});

type Options = Omit<Parameters<ServiceUnderTest['kernel']['browsers']['curl']>[1], 'url'>;
const curl = (place: string, options: Options = {}) =>
  service.kernel.browsers.curl(id, { url: place.startsWith('/') ? site.origin + place : place, ...options });
interface Echo {
  method: string;
  headers: Record<string, string>;
  body: string;
}
const echo = async (place: string, options: Options = {}): Promise<Echo> =>
  JSON.parse((await curl(place, options)).body) as Echo;

describe('a request through a session’s browser', () => {
  it('combines the caller’s request with the browser’s own headers', async () => {
    const plain = await echo('/echo');
    expect(plain).toMatchObject({ method: 'GET', body: '' });
    expect(plain.headers['user-agent']).not.toContain('Headless');
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      const headers = { 'X-Own': 'a b', 'content-type': 'application/json', accept: 'application/json' };
      const sent = await echo('/echo', { method, headers, ...(method === 'OPTIONS' ? {} : { body: '{"ü":1}' }) });
      expect(sent).toMatchObject({ method, body: method === 'OPTIONS' ? '' : '{"ü":1}' });
      expect(sent.headers).toMatchObject({
        'x-own': 'a b',
        'content-type': 'application/json',
        accept: 'application/json',
      });
    }
    expect(await curl('/echo', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  });

  it('returns status, headers and body unchanged', async () => {
    const login = await curl('/login');
    expect(login).toMatchObject({ status: 200, body: 'in' });
    expect(login.headers['x-many']).toEqual(['one', 'two']);
    expect(login.headers['set-cookie']).toHaveLength(2);
    expect(Number.isInteger(login.duration_ms)).toBe(true);
    expect(await curl('/file', { response_encoding: 'base64' })).toMatchObject({ status: 404, body: 'AP8B/g==' });
    expect(await curl('/none')).toMatchObject({ status: 204, body: '' });
    expect(await curl('/auth')).toMatchObject({ status: 401, body: 'who?' });
    expect(await curl('/gzip')).toMatchObject({ status: 200, body: 'hello' });
    const counts = [(await curl('/count')).body, (await curl('/count')).body];
    expect(counts).toEqual(['1', '2']);
  });

  it('sends and stores the session’s cookies, and follows redirects', async () => {
    const browser = await chromium.connectOverCDP(cdpUrl, { noDefaults: true });
    const context = browser.contexts()[0];
    await context?.addCookies([{ name: 'page', value: '4', url: site.origin }]);
    await curl('/login');
    const { headers } = await echo('/hop', { method: 'POST', body: 'a' });
    for (const cookie of ['sid=1', 'b=2', 'hop=3', 'page=4']) expect(headers.cookie).toContain(cookie);
    expect((await context?.cookies())?.map(({ name }) => name).sort()).toEqual(['b', 'hop', 'page', 'sid']);
    // Nothing of what came was run, and no page of the session has changed.
    await curl('/');
    expect(site.requests).not.toContain('/ran');
    expect(context?.pages().map((page) => page.url())).toEqual(['about:blank']);
    await browser.close();
  });

  it('obeys the egress policy by address, name and redirect', async () => {
    await expect(curl('http://10.0.0.7/')).rejects.toMatchObject({ status: 400, message: containing('url') });
    await expect(curl('http://169.254.169.254/')).rejects.toMatchObject({ status: 400 });
    for (const url of ['http://inside.test/', '/inside', '/literal']) {
      expect(await curl(url), url).toMatchObject({ status: 403, body: containing('not public') });
    }
    await expect(curl('https://inside.test/')).rejects.toMatchObject({ status: 422, message: containing('net::ERR') });
    for (const url of ['file:///etc/passwd', 'chrome://version', 'data:text/plain,a', 'a', 'http://a:b@localhost/']) {
      await expect(curl(url), url).rejects.toMatchObject({ status: 400, message: containing('url') });
    }
  });

  it('reports why there is no response, and enforces limits', async () => {
    await expect(curl('/loop')).rejects.toMatchObject({ status: 422, message: containing('TOO_MANY_REDIRECTS') });
    await expect(curl('/never', { timeout_ms: 300 })).rejects.toMatchObject({
      status: 422,
      message: containing('300'),
    });
    await expect(curl('/stuck', { timeout_ms: 300 })).rejects.toMatchObject({
      status: 422,
      message: containing('300'),
    });
    await expect(curl('/cut')).rejects.toMatchObject({ status: 422 });
    await expect(curl('/huge')).rejects.toMatchObject({ status: 422, message: containing('exceeds') });
    await expect(curl('/echo', { headers: { Host: 'other' } })).rejects.toMatchObject({ status: 400 });
    await expect(curl('/echo', { headers: { a: 'b\r\nc: d' } })).rejects.toMatchObject({ status: 400 });
    await expect(curl('/echo', { headers: { a: 'ü' } })).rejects.toMatchObject({ status: 400 });
    await expect(curl('/echo', { headers: { 'Proxy-Authorization': 'a' } })).rejects.toMatchObject({ status: 400 });
    const many = Array.from({ length: 6 }, () => curl('/hold'));
    await eventually(() => expect(held).toHaveLength(6));
    await expect(curl('/echo')).rejects.toMatchObject({ status: 422, message: containing('6') });
    for (const response of held) response.end('let go');
    expect((await Promise.all(many)).every(({ body }) => body === 'let go')).toBe(true);
    expect((await curl('/echo')).status).toBe(200);
    expect(service.logs.join()).not.toContain('/echo');
  });
});
