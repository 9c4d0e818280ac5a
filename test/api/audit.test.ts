import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApi, type RunningApi } from '../../api/service.ts';
import { createAnonymousBudget } from '../../api/audit-log/anonymous-budget.ts';
import type { AuditLogEntry } from '../../contract/audit-logs.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();
const WHOLE = { organizationId: 'org_default', projectId: null };
let api: RunningApi;
let upstream: Server;
let port = 0;
let strangers = 100;

beforeAll(async () => {
  upstream = createServer((_request, response) => void response.end('video'));
  upstream.on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { deps } = fixture();
  const browserBaseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  api = await startApi({ ...deps, settings: { ...deps.settings, browserBaseUrl, trustProxy: '127.0.0.1' }, port: 0 });
  port = Number(new URL(api.url).port);
});
afterAll(async () => {
  await api.close();
  upstream.close();
});

/** Sends bytes as they are, from an address of its own so that no test uses up the rows of another. */
const raw = (text: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.resume().on('close', () => resolve());
  });
const lines = (first: string, address: string, ...headers: string[]): string =>
  [`${first} HTTP/1.1`, 'host: h.example', `x-forwarded-for: ${address}`, ...headers, 'connection: close', '', ''].join(
    '\r\n',
  );
const rowsFrom = async (address: string, organizationId = WHOLE.organizationId): Promise<AuditLogEntry[]> => {
  const scope = { organizationId, projectId: null };
  let rows: AuditLogEntry[] = [];
  await vi.waitFor(async () => {
    ({ rows } = await fixture().store.auditLog.page(scope, { limit: 100, search: address }));
    expect(rows).not.toEqual([]);
  });
  return rows;
};

describe('anonymous requests', () => {
  it.each<[string, string, string[], Partial<AuditLogEntry>]>([
    ['a wrong token', 'GET /profiles?a=b', ['authorization: Bearer wrong'], { path: '/profiles', status: 401 }],
    ['no token', 'DELETE /profiles/x', [], { method: 'DELETE', route: '/profiles/:id_or_name', status: 401 }],
    ['no route', 'GET /nowhere', [], { path: '/nowhere', route: '', status: 401 }],
    ['no valid path', 'GET /profiles/%zz', [], { path: '/profiles/%zz', status: 400 }],
    ['no cookie', 'GET /login/conn_x/state', ['x-holdfast-page: 1'], { route: '/login/:id/state', status: 401 }],
    [
      'a code that is none',
      'POST /auth/connections/x/exchange',
      ['content-length: 2', 'content-type: application/json'],
      {},
    ],
  ])('with %s leave a row of the installation', async (_what, first, headers, row) => {
    const address = `198.51.100.${(strangers += 1)}`;
    const body = first.startsWith('POST') ? '{}' : '';
    const before = Date.now();
    await raw(lines(first, address, ...headers) + body);
    const [found] = await rowsFrom(address);
    expect(found).toMatchObject({ auth_strategy: 'none', client_ip: address, domain: 'h.example', ...row });
    expect(Date.parse(found?.timestamp ?? '')).toBeGreaterThanOrEqual(before);
  });

  it('are audited even if they are not HTTP', async () => {
    const { store } = fixture();
    const count = async () => (await store.auditLog.page(WHOLE, { limit: 100, search: '127.0.0.1' })).rows.length;
    const before = await count();
    await raw('nonsense\r\n\r\n');
    await vi.waitFor(async () => expect(await count()).toBe(before + 1));
  });

  it('are recorded for the organization whose revoked key they carry', async () => {
    const { store } = fixture();
    await store.organizations.create({ id: 'org_former', name: 'Former', plan: 'free' });
    const scope = { organizationId: 'org_former', projectId: null };
    const createdBy = { id: 'usr_former', email: 'former@example.com', name: null };
    const { key, record } = await store.apiKeys.create(scope, {
      name: 'k',
      expiresAt: null,
      projectId: null,
      createdBy,
    });
    await store.apiKeys.remove(scope, record.id);
    await raw(lines('GET /profiles', '198.51.100.201', `authorization: Bearer ${key}`));
    expect(await rowsFrom('198.51.100.201', 'org_former')).toMatchObject([
      { status: 401, auth_strategy: 'api_key', user_id: 'usr_former', email: 'former@example.com' },
    ]);
  });

  it('write a limited number of rows a minute, and one that counts the rest', () => {
    const budget = createAnonymousBudget();
    const at = new Date('2026-03-01T10:00:30Z');
    const admitted = (address: string, times: number) =>
      Array.from({ length: times }, () => budget.admit(address, at)).filter(Boolean).length;
    expect([admitted('a', 1000), admitted('b', 3)]).toEqual([10, 3]);
    expect(Array.from({ length: 100 }, (_, index) => admitted(`c${index}`, 1)).filter((rows) => rows > 0)).toHaveLength(
      47,
    );
    expect(budget.takeSuppressed(at)).toEqual([]);
    const next = new Date('2026-03-01T10:01:00Z');
    const leftOut = budget.takeSuppressed(next);
    expect(leftOut[0]).toEqual({ at: new Date('2026-03-01T10:00:00Z'), address: 'a', count: 990 });
    expect(leftOut).toHaveLength(6);
    expect(leftOut.reduce((sum, { count }) => sum + count, 0)).toBe(990 + 53);
    expect(budget.takeSuppressed(next)).toEqual([]);
    expect(budget.admit('a', next)).toBe(true);
  });

  it('are counted when suppressed, at the latest on shutdown', async () => {
    const { deps } = fixture();
    const own = await startApi({ ...deps, settings: { ...deps.settings, trustProxy: true }, port: 0 });
    for (let time = 0; time < 13; time += 1)
      await fetch(`${own.url}/profiles`, { headers: { 'x-forwarded-for': '198.51.100.202' } });
    await own.close();
    const rows = await rowsFrom('198.51.100.202');
    expect(rows).toHaveLength(11);
    expect(rows.filter(({ route }) => route === '3 requests left out')).toHaveLength(1);
  });
});

describe('authenticated requests', () => {
  it('are audited for unknown paths, unsupported methods and exceeded rate limits', async () => {
    const { call, deps, store } = fixture();
    await call('GET', '/audited-nowhere');
    await call('PATCH', '/audit-logs', {});
    const settings = { ...deps.settings, credentialRateLimit: { burst: 1, perSecond: 0.001 } };
    const own = await startApi({ ...deps, settings, port: 0 });
    const { key } = await store.apiKeys.create(WHOLE, {
      name: 'k',
      expiresAt: null,
      projectId: null,
      createdBy: { id: 'usr_limited', email: 'limited@example.com', name: null },
    });
    for (let time = 0; time < 2; time += 1)
      await fetch(`${own.url}/profiles`, { headers: { authorization: `Bearer ${key}` } });
    await own.close();
    const statusOf = async (search: string) =>
      (await store.auditLog.page(WHOLE, { limit: 9, search })).rows.map(({ status }) => status);
    await vi.waitFor(async () => expect(await statusOf('audited-nowhere')).toEqual([404]));
    expect((await store.auditLog.page(WHOLE, { limit: 9, method: 'PATCH', search: '/audit-logs' })).rows).toMatchObject(
      [{ status: 405 }],
    );
    expect((await statusOf('limited@example.com')).toSorted()).toEqual([200, 429]);
  });

  it('are recorded for the project of the browser that a URL opens, by WebSocket and by page', async () => {
    const token = `h.${Buffer.from('{"project":"prj_default"}').toString('base64url')}.s`;
    const upgrade = ['upgrade: websocket', 'connection: upgrade'];
    await raw(lines(`GET /browsers/b1/cdp?jwt=${token}`, '198.51.100.203', ...upgrade));
    await fetch(`${api.url}/browsers/b1/live?jwt=${token}`, { headers: { 'x-forwarded-for': '198.51.100.203' } });
    await raw(lines('GET /browsers/b1/cdp', '198.51.100.203', ...upgrade));
    await vi.waitFor(async () => expect(await rowsFrom('198.51.100.203')).toHaveLength(3));
    const rows = await rowsFrom('198.51.100.203');
    expect(rows.map(({ path, status, auth_strategy }) => `${path} ${status} ${auth_strategy}`).toSorted()).toEqual([
      '/browsers/b1/cdp 101 browser_token',
      '/browsers/b1/cdp 401 none',
      '/browsers/b1/live 200 browser_token',
    ]);
    expect(JSON.stringify(rows)).not.toContain(token);
    const { store } = fixture();
    const ofProject = await store.auditLog.page(
      { ...WHOLE, projectId: 'prj_default' },
      { limit: 9, search: '198.51.100.203' },
    );
    expect(ofProject.rows).toHaveLength(2);
  });

  it('are recorded for the organization whose hosted page they use', async () => {
    const { app, call } = fixture();
    const { id } = (await call('POST', '/auth/connections', { domain: 'audited.example', profile_name: 'ann' })).json<{
      id: string;
    }>();
    const { handoff_code: code } = (await call('POST', `/auth/connections/${id}/login`)).json<{
      handoff_code: string;
    }>();
    const origin = 'http://holdfast.test:8080';
    const headers = {
      'content-type': 'application/json',
      'x-holdfast-page': '1',
      origin,
      'sec-fetch-site': 'same-origin',
    };
    const payload = JSON.stringify({ code, attempt: 'a'.repeat(20) });
    const answer = await app.inject({ method: 'POST', url: `/login/${id}/exchange`, headers, payload });
    expect(answer.statusCode).toBe(200);
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
    expect((await app.inject({ url: `/login/${id}/state`, headers: { ...headers, cookie } })).statusCode).toBe(200);
    await vi.waitFor(async () => {
      const { rows } = await fixture().store.auditLog.page(
        { ...WHOLE, projectId: 'prj_default' },
        { limit: 9, search: `/login/${id}` },
      );
      expect(rows.map(({ route, auth_strategy }) => `${route} ${auth_strategy}`).toSorted()).toEqual([
        '/login/:id/exchange hosted_page',
        '/login/:id/state hosted_page',
      ]);
    });
  });
});
