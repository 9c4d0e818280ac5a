import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createApi } from '../../api/service.ts';
import type { ApiServer } from '../../api/context.ts';
import { API_KEY, useService } from './service-fixture.ts';

const fixture = useService();
const OWN = 'https://app.example.com';
const ALLOWED = 'access-control-allow-origin';

async function serving<T>(allowedOrigins: readonly string[], use: (app: ApiServer) => Promise<T>): Promise<T> {
  const { deps } = fixture();
  const app = await createApi({ ...deps, settings: { ...deps.settings, allowedOrigins } });
  try {
    return await use(app);
  } finally {
    await app.close();
  }
}

const asked = (app: ApiServer, url: string, origin: string) =>
  app.inject({
    method: 'OPTIONS',
    url,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    },
  });
const listed = (app: ApiServer, origin: string, key = API_KEY) =>
  app.inject({ url: '/auth/connections', headers: { origin, authorization: `Bearer ${key}` } });

describe('cross-origin pages', () => {
  it('may call the API and read errors if the operator listed their origin', async () => {
    await serving([OWN, 'http://localhost:3000'], async (app) => {
      const preflight = await asked(app, '/auth/connections/x/submit', OWN);
      expect(preflight.statusCode).toBe(204);
      expect(preflight.headers).toMatchObject({
        [ALLOWED]: OWN,
        'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
      });
      expect(preflight.headers['access-control-allow-methods']).toContain('POST');
      const list = await listed(app, 'http://localhost:3000');
      expect(list.statusCode).toBe(200);
      expect(list.headers[ALLOWED]).toBe('http://localhost:3000');
      expect(list.headers.vary).toMatch(/origin/i);
      expect(list.headers['access-control-expose-headers']).toContain('X-Next-Offset');
      const refused = await listed(app, OWN, 'wrong-key-of-twenty-characters');
      expect([refused.statusCode, refused.headers[ALLOWED]]).toEqual([401, OWN]);
    });
  });

  it('can show a login with only its handoff code, including its stream', async () => {
    const { call } = fixture();
    const made = await call('POST', '/auth/connections', { domain: 'component.example', profile_name: 'ann' });
    const { id } = z.object({ id: z.string() }).parse(made.json());
    const begun = await call('POST', `/auth/connections/${id}/login`);
    const { handoff_code: code } = z.object({ handoff_code: z.string() }).parse(begun.json());
    await serving([OWN], async (app) => {
      await app.listen({ port: 0, host: '127.0.0.1' });
      const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/auth/connections/${id}`;
      const json = { origin: OWN, 'content-type': 'application/json' };
      const answer = await fetch(`${base}/exchange`, { method: 'POST', headers: json, body: JSON.stringify({ code }) });
      const { jwt } = z.object({ jwt: z.string() }).parse(await answer.json());
      const stream = await fetch(`${base}/events`, { headers: { origin: OWN, authorization: `Bearer ${jwt}` } });
      await stream.body?.cancel();
      const told = [answer, stream].map(({ status, headers }) => [status, headers.get(ALLOWED)]);
      expect(told).toEqual([
        [200, OWN],
        [200, OWN],
      ]);
    });
  });

  it('may not call the API from an unlisted origin', async () => {
    await serving([OWN], async (app) => {
      for (const origin of ['https://evil.example', 'https://app.example.com.evil.example', 'null']) {
        expect((await asked(app, '/auth/connections', origin)).headers[ALLOWED]).toBeUndefined();
        expect((await listed(app, origin)).headers[ALLOWED]).toBeUndefined();
      }
    });
    await serving([], async (app) => {
      expect((await asked(app, '/auth/connections', OWN)).headers[ALLOWED]).toBeUndefined();
      expect((await listed(app, OWN)).headers[ALLOWED]).toBeUndefined();
    });
  });

  it("never read the hosted page's endpoints, but listed origins may embed the page", async () => {
    await serving([OWN], async (app) => {
      const page = await app.inject({ url: '/login/conn_x', headers: { origin: OWN } });
      expect(page.headers[ALLOWED]).toBeUndefined();
      expect(page.headers['content-security-policy']).toContain(`frame-ancestors ${OWN};`);
      expect(page.headers['x-frame-options']).toBeUndefined();
      expect((await asked(app, '/login/conn_x/submit', OWN)).headers[ALLOWED]).toBeUndefined();
    });
    await serving([], async (app) => {
      const page = await app.inject({ url: '/login/conn_x' });
      expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(page.headers['x-frame-options']).toBe('DENY');
    });
  });
});
