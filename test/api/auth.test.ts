import { describe, expect, it, vi } from 'vitest';
import { API_KEY, useService } from './service-fixture.ts';

const fixture = useService();

interface Failure {
  code: string;
  message: string;
  details?: { code: string; message: string }[];
}

describe('authentication', () => {
  it.each([undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer wrong', `Bearer ${API_KEY}x`, `Token ${API_KEY}`])(
    'refuses %j before anything is parsed',
    async (authorization) => {
      const { app } = fixture();
      const response = await app.inject({
        method: 'POST',
        url: '/auth/connections',
        headers: {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
        },
        payload: '{ not json',
      });
      expect(response.statusCode).toBe(401);
      expect(response.json<Failure>()).toMatchObject({ code: 'unauthorized' });
      expect(response.headers['cache-control']).toBe('no-store');
    },
  );

  it('rejects a key right after its revocation, and an expired key', async () => {
    const { call, app, shiftClock } = fixture();
    const made = await call('POST', '/org/api_keys', { name: 'short', days_to_expire: 1 });
    expect(made.statusCode).toBe(201);
    const { id, key } = made.json<{ id: string; key: string }>();
    const use = () => app.inject({ method: 'GET', url: '/auth/context', headers: { authorization: `Bearer ${key}` } });
    expect((await use()).json()).toMatchObject({
      authentication: { method: 'api_key', source: 'api_key', credential_id: id },
      principal: { type: 'api_key', id },
      organization: { id: 'org_default' },
      authorization: { credential_scope: { project_id: null }, effective_scope: { project_id: null } },
    });
    shiftClock(0);
    expect((await call('DELETE', `/org/api_keys/${id}`)).statusCode).toBe(204);
    expect((await use()).statusCode).toBe(401);
    expect((await call('GET', `/org/api_keys/${id}`)).statusCode).toBe(404);
    const kept = await call('GET', `/org/api_keys/${id}?include_deleted=true`);
    expect(kept.json<{ deleted_at: string | null }>().deleted_at).not.toBeNull();
  });

  it('creates a key that expires at a future time', async () => {
    const { call } = fixture();
    const make = (more: object) => call('POST', '/org/api_keys', { name: 'until', ...more });
    const ahead = new Date(Date.now() + 86_400_000).toISOString();
    expect((await make({ expires_at: ahead })).json()).toMatchObject({ expires_at: ahead });
    expect((await make({ expires_at: null })).json()).toMatchObject({ expires_at: null });
    for (const wrong of [
      { expires_at: '2020-01-01T00:00:00Z' },
      { expires_at: '2222-01-01T00:00:00Z' },
      { expires_at: 'soon' },
      { expires_at: ahead, days_to_expire: 1 },
    ]) {
      const refused = await make(wrong);
      expect([refused.statusCode, refused.json<{ message: string }>().message]).toEqual([
        400,
        expect.stringMatching(/^expires_at: /),
      ]);
    }
  });

  it('rejects keys limited to single actions', async () => {
    const { call } = fixture();
    const make = (policy: object | null) => call('POST', '/org/api_keys', { name: 'scoped', policy });
    const refused = await make({ statements: [{ action: 'browsers:use', resource: 'projects/*/browsers/*' }] });
    expect([refused.statusCode, refused.json<{ message: string }>().message]).toEqual([
      400,
      expect.stringMatching(/^policy: .*project_id/),
    ]);
    expect((await make(null)).statusCode).toBe(201);
  });

  it('handles HEAD like GET without a body, with the same access rules', async () => {
    const { app, call } = fixture();
    await call('POST', '/profiles', { name: 'headed' });
    const head = (url: string, authorization = `Bearer ${API_KEY}`) =>
      app.inject({ method: 'HEAD', url, headers: { authorization } });
    for (const url of [
      '/profiles',
      '/profiles/headed',
      '/profiles/headed/download',
      '/org/api_keys',
      '/openapi.json',
    ]) {
      const [read, headed] = [await call('GET', url), await head(url)];
      expect([url, headed.statusCode, headed.body]).toEqual([url, read.statusCode, '']);
      expect(headed.headers['content-type']).toBe(read.headers['content-type']);
    }
    expect((await head('/profiles')).headers).toMatchObject({
      'x-has-more': 'false',
      'content-length': expect.stringMatching(/^\d+$/) as unknown,
    });
    expect((await head('/profiles/none')).statusCode).toBe(404);
    expect((await head('/profiles', 'Bearer wrong')).statusCode).toBe(401);
    expect((await head('/auth/connections/x/submit')).statusCode).toBe(405);
  });

  it('uses one error body for every error', async () => {
    const { app, call } = fixture();
    const send = (payload: string, type = 'application/json', url = '/profiles') =>
      app.inject({
        method: 'POST',
        url,
        payload,
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': type },
      });
    expect((await send('{"name":')).json<Failure>().code).toBe('bad_request');
    expect((await send('{"__proto__":{"a":1}}')).json<Failure>().code).toBe('bad_request');
    expect((await send('name=ann', 'application/x-www-form-urlencoded')).json<Failure>()).toMatchObject({
      code: 'unsupported_media_type',
    });
    expect((await send(JSON.stringify({ name: 'a'.repeat(1024 * 1024) }))).statusCode).toBe(413);
    expect((await send('{"name":"a\\u0000b"}')).json<Failure>().code).toBe('invalid_input');
    expect((await send('{"name":"a\\ud800b"}')).json<Failure>().code).toBe('invalid_input');
    expect((await send(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)).statusCode).toBe(400);
    expect((await call('GET', '/no/such/route')).json<Failure>().code).toBe('not_found');
    expect((await call('GET', '/profiles/%zz')).statusCode).toBe(400);
    expect((await call('GET', `/profiles/${'a'.repeat(5000)}`)).statusCode).toBeGreaterThanOrEqual(400);
    expect((await call('GET', `/profiles/${'a'.repeat(5000)}`)).statusCode).toBeLessThan(500);
    const unknown = (await call('POST', '/profiles', { name: 'a', colour: 1, size: 2 })).json<Failure>();
    expect(unknown.details?.map(({ message }) => message)).toEqual([
      'colour: is not a known property',
      'size: is not a known property',
    ]);
  });

  it('hides the details of an internal error, and logs its location but not its message', async () => {
    const { call, connections, logged, store } = fixture();
    const { id } = (await call('POST', '/auth/connections', { domain: 'fault.example', profile_name: 'ann' })).json<{
      id: string;
    }>();
    const fault = vi.spyOn(store.connections, 'byId').mockRejectedValue(new Error('a secret is in this message'));
    const response = await call('GET', `/auth/connections/${id}`);
    fault.mockRestore();
    expect(response.statusCode).toBe(500);
    expect(response.json<Failure>().code).toBe('internal_error');
    expect(response.body).not.toContain('secret');
    const entry = logged.find(({ message }) => message === 'request failed');
    expect(entry?.fields.frames?.length).toBeGreaterThan(0);
    expect(JSON.stringify(logged)).not.toContain('secret');
    expect(connections.failWith).toBeNull();
  });
});

describe('scopes', () => {
  it('accept a project by id or name, and reject conflicting or unknown headers', async () => {
    const { call, app } = fixture();
    const named = (await call('POST', '/projects', { name: 'by name' })).json<{ id: string }>();
    const scopeOf = async (headers: Record<string, string>) => {
      const answer = await call('GET', '/auth/context', undefined, headers);
      if (answer.statusCode !== 200) return answer.statusCode;
      return answer.json<{ authorization: { effective_scope: { project_id: string } } }>().authorization.effective_scope
        .project_id;
    };
    expect(await scopeOf({ 'X-Kernel-Project': 'by name' })).toBe(named.id);
    expect(await scopeOf({ 'X-Kernel-Project': named.id })).toBe(named.id);
    expect(await scopeOf({ 'X-Kernel-Project': 'by name', 'X-Kernel-Project-Id': named.id })).toBe(named.id);
    expect(await scopeOf({ 'X-Kernel-Project': 'nobody knows it' })).toBe(404);
    expect(await scopeOf({ 'X-Kernel-Project-Id': 'by name' })).toBe(404);
    expect(await scopeOf({ 'X-Kernel-Project': 'by name', 'X-Kernel-Project-Id': 'prj_default' })).toBe(400);
    expect(await scopeOf({ 'X-Kernel-Organization': 'another' })).toBe(400);
    expect(await scopeOf({ 'X-Kernel-Client-Version': '1.2.3' })).toBeNull();

    const { key } = (await call('POST', '/org/api_keys', { name: 'd', project_id: 'prj_default' })).json<{
      key: string;
    }>();
    const headers = { authorization: `Bearer ${key}`, 'x-kernel-project': 'by name' };
    expect((await app.inject({ url: '/auth/context', headers })).statusCode).toBe(403);
    for (const url of ['/org/projects/by%20name', `/projects/${named.id}`, '/projects/by%20name']) {
      expect((await call('GET', url)).json()).toMatchObject({ id: named.id, name: 'by name' });
    }
    expect((await call('GET', '/org/projects/nobody')).json<Failure>().message).toMatch(/^Project not found/);
    expect((await call('GET', '/no/such?a=b')).json<Failure>().message).toBe('Route not found: GET /no/such');
  });

  it.each([
    '/config-registry',
    '/config-registry/x',
    '/telemetry/destinations/a%2Fb',
    '/vaults/x/items',
    '/browsers/x/webmcp/tools',
    '/browsers/x/playwright/executors',
  ])('says of %s that this installation does not have it', async (url) => {
    const { app, call } = fixture();
    const answer = await call('GET', url);
    expect([answer.statusCode, answer.json<{ message: string }>().message]).toEqual([
      404,
      expect.stringMatching(/^This installation has no /),
    ]);
    expect((await app.inject({ url })).statusCode).toBe(401);
    // As clients ask below a session's `base_url`.
    expect((await app.inject({ url: `${url}?jwt=x` })).statusCode).toBe(url.startsWith('/browsers/') ? 404 : 401);
  });

  it('isolate projects: 403 for a mismatch, 404 for an unknown project, no leaks', async () => {
    const { call, app, store } = fixture();
    const other = (await call('POST', '/org/projects', { name: 'other' })).json<{ id: string }>();
    const { key } = (await call('POST', '/org/api_keys', { name: 'p', project_id: other.id })).json<{ key: string }>();
    const asOther = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, headers = {}, payload?: object) =>
      app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${key}`, ...headers },
        ...(payload === undefined ? {} : { payload }),
      });
    const mine = (await call('POST', '/auth/connections', { domain: 'scope.example', profile_name: 'scoped' })).json<{
      id: string;
    }>();
    const secret = (
      await call('POST', '/credentials', { name: 'scoped', domain: 'scope.example', values: { a: 'b' } })
    ).json<{ id: string }>();

    expect((await asOther('GET', '/auth/connections', { 'x-kernel-project-id': 'prj_default' })).statusCode).toBe(403);
    expect((await asOther('GET', '/auth/connections', { 'x-kernel-project-id': other.id })).json()).toEqual([]);
    expect((await call('GET', '/auth/connections', undefined, { 'x-kernel-project-id': 'prj_x' })).statusCode).toBe(
      404,
    );
    expect((await asOther('GET', '/auth/context')).json()).toMatchObject({
      authorization: { credential_scope: { project_id: other.id }, effective_scope: { project_id: other.id } },
    });
    const operations: ['GET' | 'POST' | 'PATCH' | 'DELETE', string, object?][] = [
      ['GET', `/auth/connections/${mine.id}`],
      ['PATCH', `/auth/connections/${mine.id}`, { auto_reauth: false }],
      ['DELETE', `/auth/connections/${mine.id}`],
      ['POST', `/auth/connections/${mine.id}/login`],
      ['POST', `/auth/connections/${mine.id}/check`],
      ['POST', `/auth/connections/${mine.id}/submit`, { fields: { a: 'b' } }],
      ['GET', `/auth/connections/${mine.id}/events`],
      ['GET', `/auth/connections/${mine.id}/timeline`],
      ['GET', `/credentials/${secret.id}`],
      ['GET', '/credentials/scoped'],
      ['PATCH', `/credentials/${secret.id}`, { values: { a: 'c' } }],
      ['DELETE', `/credentials/${secret.id}`],
      ['GET', `/credentials/${secret.id}/totp-code`],
      ['GET', '/profiles/scoped'],
      ['PATCH', '/profiles/scoped', { name: 'x' }],
      ['DELETE', '/profiles/scoped'],
      ['GET', '/org/projects/prj_default'],
    ];
    for (const [method, url, payload] of operations) {
      expect([url, (await asOther(method, url, {}, payload)).statusCode]).toEqual([url, 404]);
    }
    expect((await asOther('GET', '/credentials')).json()).toEqual([]);
    expect((await asOther('GET', '/profiles')).json()).toEqual([]);
    expect((await asOther('GET', '/org/projects')).json()).toMatchObject([{ id: other.id }]);
    // A project's key cannot make one that reaches further.
    expect((await asOther('POST', '/org/api_keys', {}, { name: 'wide', project_id: null })).statusCode).toBe(403);
    expect((await asOther('POST', '/org/api_keys', {}, { name: 'x', project_id: 'prj_default' })).statusCode).toBe(403);
    expect((await asOther('POST', '/org/projects', {}, { name: 'x' })).statusCode).toBe(403);
    expect((await asOther('POST', '/org/api_keys', {}, { name: 'same' })).json()).toMatchObject({
      project_id: other.id,
    });
    // The same profile and domain in another project is another connection.
    const twin = await asOther('POST', '/auth/connections', {}, { domain: 'scope.example', profile_name: 'scoped' });
    expect(twin.statusCode).toBe(201);
    expect((await store.connections.byIdUnscoped(twin.json<{ id: string }>().id))?.projectId).toBe(other.id);
  });

  it('isolate organizations', async () => {
    const { call, app, store } = fixture();
    await store.organizations.create({ id: 'org_two', name: 'Two', plan: 'enterprise' });
    await store.projects.create('org_two', { name: 'Main' });
    const createdBy = { id: 'usr_2', email: 'two@example.com', name: null };
    const { key } = await store.apiKeys.create(
      { organizationId: 'org_two', projectId: null },
      { name: 'two', expiresAt: null, projectId: null, createdBy },
    );
    const { id } = (await call('POST', '/auth/connections', { domain: 'org.example', profile_name: 'ann' })).json<{
      id: string;
    }>();
    const asTwo = (url: string, headers = {}) =>
      app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${key}`, ...headers } });
    expect((await asTwo('/auth/connections')).json()).toEqual([]);
    expect((await asTwo(`/auth/connections/${id}`)).statusCode).toBe(404);
    expect((await asTwo('/auth/context', { 'x-kernel-project-id': 'prj_default' })).statusCode).toBe(404);
    expect((await asTwo('/org/api_keys')).json()).toHaveLength(1);
  });
});

describe('rate limits', () => {
  const limited = useService({});
  it('respond 429 with whole seconds, by address before authentication and by credential after it', async () => {
    const { deps } = limited();
    const { createApi } = await import('../../api/service.ts');
    // Windows that do not end while the test runs.
    const limits = {
      addressRateLimit: { burst: 5, perSecond: 0.01 },
      credentialRateLimit: { burst: 2, perSecond: 0.001 },
    };
    const app = await createApi({ ...deps, settings: { ...deps.settings, ...limits } });
    const get = (remoteAddress: string, authorization = '') =>
      app.inject({ method: 'GET', url: '/auth/context', remoteAddress, headers: { authorization } });
    const codes = [];
    for (let index = 0; index < 7; index += 1) codes.push((await get('192.0.2.1')).statusCode);
    expect(codes).toEqual([401, 401, 401, 401, 401, 429, 429]);
    const refused = await get('192.0.2.1');
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect(refused.json<Failure>().code).toBe('rate_limited');
    const own = [];
    for (let index = 0; index < 3; index += 1) own.push((await get('192.0.2.2', `Bearer ${API_KEY}`)).statusCode);
    expect(own).toEqual([200, 200, 429]);

    // Another process of the API counts on from there.
    const other = await createApi({ ...deps, settings: { ...deps.settings, ...limits } });
    const there = await other.inject({ url: '/auth/context', headers: { authorization: `Bearer ${API_KEY}` } });
    expect([there.statusCode, there.headers['x-ratelimit-limit'], there.headers['x-ratelimit-remaining']]).toEqual([
      429,
      '2',
      '0',
    ]);
    await Promise.all([app.close(), other.close()]);
  });
});
