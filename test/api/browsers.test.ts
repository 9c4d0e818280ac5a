import { createServer, get, type IncomingHttpHeaders, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { startApi, type RunningApi } from '../../api/service.ts';
import { API_KEY, useService } from './service-fixture.ts';

const fixture = useService();
const seen: { method: string; url: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
let upstream: Server;
/** The browser service holds a call; it resolves when its caller has gone. */
let waiting: Promise<void>;
let asked: () => void;
let api: RunningApi;

/** A made-up browser service: echoes, streams, and accepts websockets by one token. */
beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      if (request.url?.startsWith('/browsers/b1/logs/stream')) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('event: log\ndata: {}\n\n');
        return;
      }
      if (request.url?.startsWith('/browser_pools/empty')) {
        waiting = new Promise((resolve) => response.once('close', resolve));
        asked();
        return;
      }
      if (request.url?.startsWith('/browsers/quiet')) {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'x-sse-content-type': 'application/json' });
        response.flushHeaders();
        return;
      }
      if (request.url?.startsWith('/browsers/busy')) {
        response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
        response.end('{"code":"unavailable","message":"busy"}');
        return;
      }
      response.writeHead(request.method === 'DELETE' ? 204 : 200, { 'content-type': 'application/octet-stream' });
      response.end(request.method === 'DELETE' ? undefined : body);
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  upstream.on('upgrade', (request, socket, head) => {
    seen.push({ method: 'UPGRADE', url: request.url ?? '', headers: request.headers, body: Buffer.alloc(0) });
    if (!request.url?.includes('jwt=good')) {
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 5\r\nconnection: close\r\n\r\nwrong');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (ws) => {
      ws.send('hello');
      ws.on('message', (data, isBinary) => ws.send(data, { binary: isBinary }));
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const { deps } = fixture();
  const settings = {
    ...deps.settings,
    publicUrl: 'https://api.example:8443',
    browserBaseUrl: `http://127.0.0.1:${port}`,
  };
  api = await startApi({ ...deps, settings, port: 0 });
});

afterAll(async () => {
  await api.close();
  upstream.closeAllConnections();
  upstream.close();
});

const send = (
  path: string,
  init: {
    method?: string;
    body?: string | Uint8Array<ArrayBuffer>;
    headers?: Record<string, string>;
    signal?: AbortSignal;
  } = {},
) => fetch(`${api.url}${path}`, { ...init, headers: { authorization: `Bearer ${API_KEY}`, ...init.headers } });

/** The status of a path that is sent exactly as it is written. */
const statusOf = (path: string) =>
  new Promise<number>((resolve, reject) => {
    const { port } = new URL(api.url);
    const headers = { authorization: `Bearer ${API_KEY}` };
    get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on('error', reject);
  });

describe('/browsers over HTTP', () => {
  it('audits a call with a body even if its socket is gone by the response', async () => {
    const { store } = fixture();
    await send('/browsers/b-audited/computer/type?x=1', { method: 'POST', body: '{"text":"hello"}' });
    const { rows } = await store.auditLog.page(
      { organizationId: 'org_default', projectId: null },
      { limit: 10, search: 'b-audited' },
    );
    expect(rows).toMatchObject([
      {
        method: 'POST',
        path: '/browsers/b-audited/computer/type',
        route: '/browsers/:id/computer/type',
        status: 200,
        client_ip: '127.0.0.1',
        domain: new URL(api.url).host,
      },
    ]);
  });

  it('forwards bodies unchanged, with the service key, the project and the public address', async () => {
    const bytes = Uint8Array.from(Array.from({ length: 2 * 1024 * 1024 }, (_, index) => index % 256));
    const response = await send('/browsers/b1/fs/write_file?path=%2Fa%20b', {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': 'application/octet-stream', cookie: 'a=b', 'x-forwarded-host': 'evil.example' },
    });
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { method, url, headers, body } = seen.at(-1) ?? {};
    expect([method, url, body?.equals(bytes)]).toEqual(['POST', '/browsers/b1/fs/write_file?path=%2Fa%20b', true]);
    expect(headers).toMatchObject({
      authorization: 'Bearer key of the browser service',
      'x-kernel-project-id': 'prj_default',
      'x-forwarded-host': 'api.example:8443',
      'x-forwarded-proto': 'https',
    });
    expect(headers).not.toHaveProperty('cookie');
  });

  it('forwards JSON byte for byte, even malformed, and empty responses', async () => {
    const text = '{ "headless" : true,  not json';
    await send('/browsers', { method: 'POST', body: text, headers: { 'content-type': 'application/json' } });
    expect(seen.at(-1)).toMatchObject({ url: '/browsers', method: 'POST' });
    expect(seen.at(-1)?.body.toString()).toBe(text);
    expect((await send('/browsers/b1', { method: 'DELETE' })).status).toBe(204);
    expect((await send('/browsers?status=all')).status).toBe(200);
    expect(seen.at(-1)?.url).toBe('/browsers?status=all');
  });

  it('forwards a long-running call, and aborts it when the caller disconnects', async () => {
    const there = await send('/browser_pools/full/acquire', { method: 'POST', body: '{"name":"a"}' });
    expect([there.status, await there.text()]).toEqual([200, '{"name":"a"}']);
    expect(seen.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer key of the browser service',
      'x-kernel-project-id': 'prj_default',
    });
    const gone = new AbortController();
    const arrived = new Promise<void>((resolve) => (asked = resolve));
    const left = send('/browser_pools/empty/acquire', { method: 'POST', signal: gone.signal });
    await arrived;
    gone.abort();
    await expect(left).rejects.toThrow(/abort/);
    await waiting;
    const broken = await fixture().app.inject({
      method: 'POST',
      url: '/browser_pools/any/acquire',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      payload: '{}',
    });
    expect(broken.json()).toMatchObject({ code: 'browser_error', inner_error: { code: 'ECONNREFUSED' } });
    expect((await fetch(`${api.url}/browser_pools?jwt=token`)).status).toBe(401);
  });

  it('does not let a caller select another project', async () => {
    expect((await send('/browsers', { headers: { 'x-kernel-project-id': 'prj_other' } })).status).toBe(404);
  });

  it('requires a bearer token unless the URL has a token, which the browser service verifies', async () => {
    const before = seen.length;
    expect((await fetch(`${api.url}/browsers`)).status).toBe(401);
    expect((await fetch(`${api.url}/browsers?jwt=`)).status).toBe(401);
    expect(seen).toHaveLength(before);
    const response = await send('/browsers/b1/telemetry/stream?jwt=token');
    expect(response.status).toBe(200);
    expect(seen.at(-1)?.headers).not.toHaveProperty('authorization');
    expect(seen.at(-1)?.headers).not.toHaveProperty('x-kernel-project-id');
  });

  it('sends the headers of a stream at once, before its first event', async () => {
    const stop = new AbortController();
    const response = await send('/browsers/quiet/telemetry/stream', { signal: stop.signal });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('x-sse-content-type')).toBe('application/json');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    stop.abort();
  });

  it('sends every project that an organization-wide key may see, its default first', async () => {
    const { call } = fixture();
    const { id } = (await call('POST', '/org/projects', { name: 'second' })).json<{ id: string }>();
    await send('/browsers', { headers: { 'x-holdfast-projects': 'prj_of_others' } });
    expect(seen.at(-1)?.headers).toMatchObject({
      'x-kernel-project-id': 'prj_default',
      'x-holdfast-projects': `prj_default,${id}`,
    });
    await send('/browsers', { headers: { 'x-kernel-project': 'second' } });
    expect(seen.at(-1)?.headers).toMatchObject({ 'x-kernel-project-id': id, 'x-holdfast-projects': id });
  });

  it('streams responses as they arrive', async () => {
    const stop = new AbortController();
    const response = await send('/browsers/b1/logs/stream?source=supervisor', { signal: stop.signal });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toContain('event: log');
    stop.abort();
  });

  it('rejects every spelling of a path outside /browsers', async () => {
    const before = seen.length;
    for (const path of [
      '/browsers/%2e%2e/health',
      '/browsers/x%2f..%2f..%2fhealth',
      '/browsers/..%5c..%5chealth',
      '/browsers/../health',
    ]) {
      expect([path, await statusOf(path)]).toEqual([path, 400]);
    }
    expect(seen).toHaveLength(before);
  });

  it('forwards an error response without retrying, and reports an unreachable service', async () => {
    const before = seen.length;
    const busy = await send('/browsers/busy');
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '1']);
    expect(seen).toHaveLength(before + 1);
    const away = await fixture().call('GET', '/browsers');
    expect([away.statusCode, away.json<{ code: string }>().code]).toEqual([502, 'browser_error']);
  });
});

describe('a request that is not HTTP', () => {
  it('is rejected with the common error body', async () => {
    const { port } = new URL(api.url);
    for (const text of ['nonsense\r\n\r\n', `GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(20_000)}\r\n\r\n`]) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(text);
      let answer = '';
      for await (const chunk of socket) answer += String(chunk);
      expect(answer).toMatch(/^HTTP\/1.1 400 [^]*"code":"bad_request"/);
    }
  });
});

describe('/browsers over WebSockets', () => {
  const open = (path: string, headers = {}) => new WebSocket(`${api.url.replace('http', 'ws')}${path}`, { headers });
  const failure = (socket: WebSocket) =>
    new Promise<number>((resolve) => {
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      socket.on('error', () => undefined);
    });

  it('carries large and binary messages both ways, and closes when either side does', async () => {
    const socket = open('/browsers/b1/cdp?jwt=good', { authorization: 'Bearer x', cookie: 'a=b' });
    const next = () => new Promise<Buffer>((resolve) => socket.once('message', (data: Buffer) => resolve(data)));
    expect((await next()).toString()).toBe('hello');
    expect(seen.at(-1)).toMatchObject({ method: 'UPGRADE', url: '/browsers/b1/cdp?jwt=good' });
    expect(seen.at(-1)?.headers).toMatchObject({
      'x-forwarded-host': 'api.example:8443',
      'x-forwarded-proto': 'https',
    });
    expect(seen.at(-1)?.headers).not.toHaveProperty('authorization');
    expect(seen.at(-1)?.headers).not.toHaveProperty('cookie');
    const large = Buffer.alloc(5 * 1024 * 1024, 7);
    socket.send(large);
    expect((await next()).equals(large)).toBe(true);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.close();
    await closed;
  });

  it('forwards error responses of the browser service, and has its own', async () => {
    expect(await failure(open('/browsers/b1/cdp?jwt=bad'))).toBe(401);
    expect(await failure(open('/browsers/b1/cdp'))).toBe(401);
    expect(await failure(open('/elsewhere?jwt=good'))).toBe(404);
    expect(await failure(open('/browsers/..%2f..%2fx?jwt=good'))).toBe(404);
  });
});
