import Kernel from '@onkernel/sdk';
import { afterAll, describe, expect } from 'vitest';
import { startApi, type RunningApi } from '../../api/service.ts';
import { API_KEY as API_SERVICE_KEY, useService } from '../api/service-fixture.ts';
import { freePort } from '../setup/free-port-block.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { API_KEY, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

const fixture = useService();
let service: ServiceUnderTest;
let site: Site;
let api: RunningApi;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({
    '/echo': (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        response.setHeader('set-cookie', 'sid=1');
        response.setHeader('content-type', 'application/json');
        response.setHeader('x-site', 'said');
        response.setHeader('clear-site-data', '"*"');
        const { method, headers } = request;
        response
          .writeHead(method === 'DELETE' ? 404 : 200)
          .end(JSON.stringify({ method, headers, body: Buffer.concat(pieces).toString('base64') }));
      });
    },
  });
  const { deps } = fixture();
  const port = await freePort();
  const settings = {
    ...deps.settings,
    publicUrl: `http://127.0.0.1:${String(port)}`,
    browserBaseUrl: service.handle.url,
    browserApiKey: API_KEY,
  };
  api = await startApi({ ...deps, settings, port });
});
afterAll(async () => {
  await api.close();
  site.close();
});

describe.each(['directly', 'through the API'])('the base_url of a session, reached %s', (way) => {
  const isDirect = way === 'directly';
  /** The public client, and what it asked for. */
  const open = async () => {
    const asked: { url: URL; authorization: string | null }[] = [];
    const kernel = new Kernel({
      apiKey: isDirect ? API_KEY : API_SERVICE_KEY,
      baseURL: isDirect ? service.handle.url : api.url,
      maxRetries: 0,
      fetch: (input, init) => {
        const url = new URL(input instanceof Request ? input.url : input);
        asked.push({ url, authorization: new Headers(init?.headers).get('authorization') });
        return fetch(input, init);
      },
    });
    const session = await kernel.browsers.create({ headless: true, telemetry: { enabled: true } });
    const base = session.base_url ?? '';
    const jwt = new URL(session.cdp_ws_url).searchParams.get('jwt') ?? '';
    const call = (path: string, init: RequestInit = {}, token = jwt) =>
      fetch(`${base}${path}${path.includes('?') ? '&' : '?'}jwt=${token}`, init);
    return { kernel, session, id: session.session_id, base, jwt, asked, call };
  };

  it('serves the public client without a key', async () => {
    const { kernel, id, base, jwt, asked } = await open();
    expect(base).toBe(`${isDirect ? service.handle.url : api.url}/browsers/${id}`);
    asked.length = 0;
    const answer = await kernel.browsers.curl(id, { url: `${site.origin}/echo` });
    expect(JSON.parse(answer.body)).toMatchObject({ method: 'GET' });
    const stream = await kernel.browsers.telemetry.stream(id, { replay: 'all' });
    for await (const { event } of stream) {
      expect(event).toMatchObject({ type: 'api_call', data: { operation_id: 'Curl' } });
      break;
    }
    const raw = await kernel.browsers.fetch(id, `${site.origin}/echo`, {
      method: 'POST',
      headers: { 'x-own': 'a b', 'content-type': 'x/y' },
      body: Buffer.from([0, 255, 1]),
    });
    expect([raw.status, raw.headers.get('x-site'), raw.headers.getSetCookie()]).toEqual([200, 'said', ['sid=1']]);
    const echo = (await raw.json()) as { method: string; headers: Record<string, string>; body: string };
    expect(echo).toMatchObject({ method: 'POST', body: 'AP8B', headers: { 'x-own': 'a b', 'content-type': 'x/y' } });
    expect(echo.headers['user-agent']).toContain('Mozilla/5.0');
    expect(JSON.stringify(echo.headers)).not.toMatch(/stainless|kernel|forwarded|jwt/i);
    for (const { url, authorization } of asked) {
      expect([url.href.startsWith(`${base}/`), url.searchParams.get('jwt'), authorization]).toEqual([true, jwt, null]);
    }
    expect(asked.map(({ url }) => url.pathname.split('/').slice(3).join('/'))).toEqual([
      'curl',
      'telemetry/stream',
      'curl/raw',
    ]);
    await kernel.browsers.deleteByID(id);
  });

  it('grants access to its own session only', async () => {
    const { kernel, session, id, base, jwt, call } = await open();
    const other = await kernel.browsers.create({ headless: true });
    expect((await call('/computer/get_mouse_position', { method: 'POST' })).status).toBe(200);
    expect((await call('/fs/list_files?path=/')).status).toBe(200);
    expect((await call('/telemetry/events')).status).toBe(200);
    expect((await call('/replays')).status).toBe(200);

    const origin = new URL(base).origin;
    const refused: [string, string, string?][] = [
      ['the session itself', base],
      ['its end', base, 'DELETE'],
      ['all sessions', `${origin}/browsers`],
      ['a new session', `${origin}/browsers`, 'POST'],
      ['another session', `${origin}/browsers/${other.session_id}/fs/list_files?path=/`],
      ['its live view', `${base}/live`],
    ];
    for (const [what, url, method = 'GET'] of refused) {
      const answer = await fetch(`${url}${url.includes('?') ? '&' : '?'}jwt=${jwt}`, { method });
      expect([what, answer.status]).toEqual([what, 401]);
    }
    const live = new URL(other.cdp_ws_url).searchParams.get('jwt') ?? '';
    const bidi = new URL(session.webdriver_ws_url).searchParams.get('jwt') ?? '';
    for (const token of ['', 'wrong', live, bidi]) {
      expect((await call('/fs/list_files?path=/', {}, token)).status).toBe(401);
    }
    await kernel.browsers.deleteByID(other.session_id);
    await kernel.browsers.deleteByID(id);
    expect((await call('/fs/list_files?path=/')).status).toBe(404);
  });

  it('forwards no pages to browsers, and neither cookies nor keys', async () => {
    const { kernel, id, call } = await open();
    const raw = `/curl/raw?url=${encodeURIComponent(`${site.origin}/echo`)}`;
    for (const kind of ['document', 'iframe', 'script']) {
      expect((await call(raw, { headers: { 'sec-fetch-dest': kind } })).status).toBe(403);
    }
    expect((await call(raw, { headers: { authorization: 'Bearer x' } })).status).toBe(400);
    expect((await call('/curl/raw?url=http%3A%2F%2F10.0.0.7%2F')).status).toBe(400);
    const answer = await call(raw, {
      method: 'DELETE',
      headers: { 'sec-fetch-site': 'cross-site', cookie: 'mine=1', 'x-forwarded-for': '1.2.3.4' },
    });
    expect([answer.status, answer.headers.getSetCookie(), answer.headers.get('clear-site-data')]).toEqual([
      404,
      [],
      null,
    ]);
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(await answer.text()).not.toMatch(/mine=1|1\.2\.3\.4/);
    await kernel.browsers.deleteByID(id);
  });
});
