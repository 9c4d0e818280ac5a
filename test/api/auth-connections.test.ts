import { describe, expect, it } from 'vitest';
import { ManagedAuth } from '../../contract/connections.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();

describe('create', () => {
  it('responds 201 with all fields and defaults', async () => {
    const { call } = fixture();
    const response = await call('POST', '/auth/connections', { domain: 'Example.COM', profile_name: 'ann' });
    expect(response.statusCode).toBe(201);
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    const body = ManagedAuth.parse(response.json());
    expect(body).toMatchObject({
      profile_name: 'ann',
      domain: 'example.com',
      status: 'NEEDS_AUTH',
      save_credentials: true,
      record_session: false,
      auto_reauth: true,
      health_checks: true,
      health_check_interval: 3600,
      can_reauth: false,
      can_reauth_reason: 'no_prior_successful_login',
      flow_status: null,
      flow_step: null,
      fields: null,
    });
    const read = await call('GET', `/auth/connections/${body.id}`);
    expect(read.json()).toEqual(response.json());
  });

  it('responds to a duplicate with a final 409 and existing_id', async () => {
    const { call } = fixture();
    const body = { domain: 'twice.example', profile_name: 'ann' };
    const first = (await call('POST', '/auth/connections', body)).json<{ id: string }>();
    const second = await call('POST', '/auth/connections', body);
    expect(second.statusCode).toBe(409);
    expect(second.headers['x-should-retry']).toBe('false');
    expect(second.json()).toMatchObject({ code: 'already_exists', existing_id: first.id });
  });

  it('creates exactly one of fifty concurrent duplicates', async () => {
    const { call } = fixture();
    const body = { domain: 'fifty.example', profile_name: 'ann' };
    const responses = await Promise.all(Array.from({ length: 50 }, () => call('POST', '/auth/connections', body)));
    const created = responses.filter(({ statusCode }) => statusCode === 201);
    expect(created).toHaveLength(1);
    const ids = responses.map((response) => response.json<{ id?: string; existing_id?: string }>());
    expect(new Set(ids.map(({ id, existing_id: existing }) => id ?? existing)).size).toBe(1);
  });

  it.each([
    [{ profile_name: 'ann' }, 'domain'],
    [{ domain: 'a.example' }, 'profile_name'],
    [{ domain: 'https://a.example/x', profile_name: 'ann' }, 'domain'],
    [{ domain: 'a.example', profile_name: 'ann', colour: 'red' }, 'colour'],
    [{ domain: 'a.example', profile_name: 'ann', browser: { headless: true } }, 'browser.headless'],
    [{ domain: 'a.example', profile_name: 'ann', health_check_interval: 299 }, 'health_check_interval'],
    [{ domain: 'a.example', profile_name: 'ann', health_check_interval: 86401 }, 'health_check_interval'],
    [{ domain: 'a.example', profile_name: 'ann', credential: { name: 'none of that name' } }, 'credential.name'],
    [{ domain: 'a.example', profile_name: 'ann', credential: { provider: 'vault' } }, 'credential'],
    [{ domain: 'a.example', profile_name: 'ann', proxy: { id: 'a', name: 'b' } }, 'proxy'],
    [{ domain: 'a.example', profile_name: 'ann', proxy: {} }, 'proxy'],
    [{ domain: 'a.example', profile_name: 'ann', proxy: { mode: 'direct' } }, 'proxy.mode'],
    [{ domain: 'a.example', profile_name: 'ann', proxy: { id: 'prx_unknown' } }, 'proxy.id'],
    [{ domain: 'a.example', profile_name: 'ann', proxy: { name: 'unknown' } }, 'proxy.name'],
    [{ domain: 'a.example', profile_name: 'ann', browser: { proxy: {} } }, 'browser.proxy'],
    [{ domain: 'a.example', profile_name: 'ann', browser: { proxy: { id: 'a', mode: 'direct' } } }, 'browser.proxy'],
    [{ domain: 'a.example', profile_name: 'ann', browser: { proxy: { mode: 'fast' } } }, 'browser.proxy.mode'],
    [{ domain: 'a.example', profile_name: 'ann', browser: { proxy: { id: 'prx_unknown' } } }, 'browser.proxy.id'],
    [{ domain: 'a.example', profile_name: 'ann', browser: { proxy: { name: 'unknown' } } }, 'browser.proxy.name'],
    [{ domain: 'a.example', profile_name: 'ann', browser: { proxy: { mode: 'direct' } }, proxy: { id: 'x' } }, 'proxy'],
    [{ domain: 'a.example', profile_name: 'ann', allowed_domains: ['a b'] }, 'allowed_domains.0'],
    [{ domain: 'a.example', profile_name: 'ann', login_url: 'ftp://a.example' }, 'login_url'],
    [{ domain: 'a.example', profile_name: 'ann', login_url: 'http://a.example' }, 'login_url'],
    [{ domain: 'a.example', profile_name: 'ann', login_url: 'https://127.1/' }, 'login_url'],
    [{ domain: 'a.example', profile_name: 'ann', login_url: 'https://[::ffff:10.0.0.1]/' }, 'login_url'],
    [{ domain: '10.0.0.1', profile_name: 'ann' }, 'domain'],
    [{ domain: 'localhost', profile_name: 'ann' }, 'domain'],
    [{ domain: '0x7f.1:8443', profile_name: 'ann' }, 'domain'],
  ])('refuses %j, naming the field, and changes nothing', async (body, field) => {
    const { call } = fixture();
    const before = (await call('GET', '/auth/connections?limit=100')).json<unknown[]>().length;
    const response = await call('POST', '/auth/connections', body);
    expect(response.statusCode).toBe(400);
    const { code, details } = response.json<{ code: string; details: { message: string }[] }>();
    expect(code).toBe('invalid_input');
    expect(details.map(({ message }) => message.split(':')[0])).toContain(field);
    expect((await call('GET', '/auth/connections?limit=100')).json<unknown[]>()).toHaveLength(before);
  });

  it('accepts listed hosts and provider references, and normalizes allowed domains', async () => {
    const { call } = fixture();
    const response = await call('POST', '/auth/connections', {
      domain: 'localhost:8081',
      profile_name: 'operator',
      login_url: 'http://localhost:8081/login',
      allowed_domains: ['www.Shop.example', '*.shop.example', 'pay.example'],
      credential: { provider: 'vault', path: 'team/item' },
      health_check_interval: 300,
    });
    expect(response.statusCode).toBe(201);
    expect(response.json()).toMatchObject({
      domain: 'localhost:8081',
      allowed_domains: ['shop.example', 'pay.example'],
      credential: { provider: 'vault', path: 'team/item' },
      login_url: 'http://localhost:8081/login',
    });
  });
});

describe('list', () => {
  it('pages with X-Has-More and X-Next-Offset, and filters', async () => {
    const { call } = fixture();
    for (const name of ['l1', 'l2', 'l3']) {
      await call('POST', '/auth/connections', { domain: `${name}.list.example`, profile_name: 'lister' });
    }
    const first = await call('GET', '/auth/connections?profile_name=lister&limit=2');
    expect(first.headers).toMatchObject({ 'x-has-more': 'true', 'x-next-offset': '2' });
    const second = await call('GET', '/auth/connections?profile_name=lister&limit=2&offset=2');
    expect(second.headers).toMatchObject({ 'x-has-more': 'false', 'x-next-offset': '0' });
    const domains = [...first.json<{ domain: string }[]>(), ...second.json<{ domain: string }[]>()];
    expect(domains.map(({ domain }) => domain)).toEqual(['l3.list.example', 'l2.list.example', 'l1.list.example']);
    expect((await call('GET', '/auth/connections?query=L2.List')).json()).toHaveLength(1);
    expect((await call('GET', '/auth/connections?domain=l3.list.example')).json()).toHaveLength(1);
    for (const query of ['limit=0', 'limit=101', 'offset=-1', 'limit=x']) {
      expect((await call('GET', `/auth/connections?${query}`)).statusCode).toBe(400);
    }
  });

  it('allows one extra row for the CLI', async () => {
    const { call } = fixture();
    const made = await call('POST', '/auth/connections', { domain: 'more.list.example', profile_name: 'lister' });
    for (const list of ['/apps', '/deployments', `/auth/connections/${made.json<{ id: string }>().id}/timeline`]) {
      expect((await call('GET', `${list}?limit=101&offset=0`)).statusCode, list).toBe(200);
      expect((await call('GET', `${list}?limit=102`)).statusCode, list).toBe(400);
    }
  });
});

describe('update and delete', () => {
  it('changes given properties, clears login_url and replaces allowed_domains', async () => {
    const { call } = fixture();
    const { id } = (
      await call('POST', '/auth/connections', {
        domain: 'update.example',
        profile_name: 'ann',
        login_url: 'https://update.example/login',
        allowed_domains: ['a.example'],
      })
    ).json<{ id: string }>();
    const url = `/auth/connections/${id}`;
    const changed = await call('PATCH', url, { login_url: '', allowed_domains: ['b.example'], auto_reauth: false });
    expect(changed.statusCode).toBe(200);
    expect(changed.json()).toMatchObject({ allowed_domains: ['b.example'], auto_reauth: false });
    expect(changed.json()).not.toHaveProperty('login_url');
    expect((await call('GET', url)).json()).toEqual(changed.json());
    expect((await call('PATCH', url, {})).json()).toEqual(changed.json());
    expect((await call('PATCH', url, { domain: 'other.example' })).statusCode).toBe(400);
    expect((await call('DELETE', url)).statusCode).toBe(204);
    expect((await call('DELETE', url)).statusCode).toBe(404);
    expect((await call('GET', url)).statusCode).toBe(404);
    expect((await call('PATCH', url, { auto_reauth: true })).statusCode).toBe(404);
  });

  it('merges telemetry as interface.md says', async () => {
    const { call } = fixture();
    const { id } = (
      await call('POST', '/auth/connections', {
        domain: 'telemetry.example',
        profile_name: 'ann',
        browser: { stealth: false, telemetry: { enabled: true, browser: { network: { enabled: true } } } },
      })
    ).json<{ id: string }>();
    const merged = await call('PATCH', `/auth/connections/${id}`, {
      browser: { telemetry: { browser: { page: { enabled: true } } } },
    });
    expect(merged.json()).toMatchObject({
      browser: {
        stealth: false,
        telemetry: { enabled: true, browser: { network: { enabled: true }, page: { enabled: true } } },
      },
    });
    const stopped = await call('PATCH', `/auth/connections/${id}`, { browser: { telemetry: { enabled: false } } });
    expect(stopped.json()).toMatchObject({ browser: { stealth: false, telemetry: { enabled: false } } });
  });

  it('shows telemetry in both fields, and accepts changes in either', async () => {
    const { call } = fixture();
    const { id } = (
      await call('POST', '/auth/connections', {
        domain: 'telemetry-old.example',
        profile_name: 'ann',
        browser_telemetry: { enabled: true, browser: { network: { enabled: true } } },
      })
    ).json<{ id: string }>();
    const url = `/auth/connections/${id}`;
    const network = { enabled: true, browser: { network: { enabled: true } } };
    const read = (await call('GET', url)).json<object>();
    expect(read).toMatchObject({ browser: { telemetry: network }, browser_telemetry: network });
    const old = await call('PATCH', url, { browser_telemetry: { browser: { page: { enabled: true } } } });
    const both = { enabled: true, browser: { network: { enabled: true }, page: { enabled: true } } };
    expect(old.json()).toMatchObject({ browser: { telemetry: both }, browser_telemetry: both });
    const stopped = (await call('PATCH', url, { browser: { telemetry: { enabled: false } } })).json<object>();
    expect(stopped).toMatchObject({
      browser: { telemetry: { enabled: false } },
      browser_telemetry: { enabled: false },
    });
  });

  it('rejects screenshots of a login', async () => {
    const { call } = fixture();
    const telemetry = { enabled: true, browser: { screenshot: { enabled: true } } };
    const create = { domain: 'pictures.example', profile_name: 'ann' };
    const refused = await call('POST', '/auth/connections', { ...create, browser: { telemetry } });
    expect([refused.statusCode, refused.json<{ message: string }>().message]).toEqual([
      400,
      expect.stringMatching(/^browser\.telemetry\.browser\.screenshot: .*record_session/) as string,
    ]);
    const { id } = (await call('POST', '/auth/connections', create)).json<{ id: string }>();
    const url = `/auth/connections/${id}`;
    expect((await call('PATCH', url, { browser_telemetry: telemetry })).statusCode).toBe(400);
    expect((await call('POST', `${url}/login`, { browser: { telemetry } })).statusCode).toBe(400);
    const without = { telemetry: { browser: { screenshot: { enabled: false } } } };
    expect((await call('PATCH', url, { browser: without })).statusCode).toBe(200);
  });

  it('detaches a credential', async () => {
    const { call } = fixture();
    await call('POST', '/credentials', { name: 'detached', domain: 'detach.example', values: {} });
    const body = { domain: 'detach.example', profile_name: 'ann', credential: { name: 'detached' } };
    const { id } = (await call('POST', '/auth/connections', body)).json<{ id: string }>();
    const detached = await call('PATCH', `/auth/connections/${id}`, { credential: null });
    expect(detached.statusCode).toBe(200);
    expect(detached.json()).not.toHaveProperty('credential');
    expect((await call('GET', '/credentials/detached')).statusCode).toBe(200);
  });

  it.each(['browser.telemetry', 'browser_telemetry'])('rejects exporting telemetry by %s', async (field) => {
    const { call } = fixture();
    const telemetry = { enabled: true, export: { s3: {} } };
    const body = field === 'browser_telemetry' ? { browser_telemetry: telemetry } : { browser: { telemetry } };
    const create = { domain: 'export.example', profile_name: 'ann', ...body };
    const refused = await call('POST', '/auth/connections', create);
    expect([refused.statusCode, refused.json<{ message: string }>().message]).toEqual([
      400,
      `${field}.export: is not supported; omit it and read telemetry from the browser session`,
    ]);
    const { id } = (await call('POST', '/auth/connections', { domain: 'export.example', profile_name: 'ann' })).json<{
      id: string;
    }>();
    expect((await call('PATCH', `/auth/connections/${id}`, body)).statusCode).toBe(400);
    expect((await call('POST', `/auth/connections/${id}/login`, body)).statusCode).toBe(400);
    await call('DELETE', `/auth/connections/${id}`);
  });
});

describe('login and check', () => {
  it('responds with the flow, a hosted link and its code; a second login is a final 409', async () => {
    const { call } = fixture();
    const { id } = (await call('POST', '/auth/connections', { domain: 'login.example', profile_name: 'ann' })).json<{
      id: string;
    }>();
    const response = await call('POST', `/auth/connections/${id}/login`);
    expect(response.statusCode).toBe(200);
    const body = response.json<{ hosted_url: string; handoff_code: string; id: string; flow_type: string }>();
    expect(body).toMatchObject({ id, flow_type: 'LOGIN' });
    expect(body.hosted_url).toBe(`http://holdfast.test:8080/login/${id}?code=${body.handoff_code}`);
    const read = (await call('GET', `/auth/connections/${id}`)).json<{ hosted_url: string; flow_status: string }>();
    expect(read).toMatchObject({ flow_status: 'IN_PROGRESS', flow_step: 'DISCOVERING' });
    expect(read.hosted_url).not.toBe(body.hosted_url);
    const again = await call('POST', `/auth/connections/${id}/login`, {});
    expect(again.statusCode).toBe(409);
    expect(again.headers['x-should-retry']).toBe('false');
    expect(again.json()).toMatchObject({ code: 'flow_in_progress' });
  });

  it.each([
    ['null', 'application/json'],
    ['', 'application/json'],
    ['{}', 'application/json; charset=utf-8'],
    [undefined, undefined],
  ])('takes the body %j', async (payload, type) => {
    const { call, app } = fixture();
    const { id } = (
      await call('POST', '/auth/connections', { domain: `body-${Math.random()}.example`, profile_name: 'ann' })
    ).json<{ id: string }>();
    const response = await app.inject({
      method: 'POST',
      url: `/auth/connections/${id}/login`,
      headers: {
        authorization: 'Bearer an-operator-chosen-key-of-the-tests',
        ...(type === undefined ? {} : { 'content-type': type }),
      },
      ...(payload === undefined ? {} : { payload }),
    });
    expect(response.statusCode).toBe(200);
  });

  it('responds 202 while a check is still running', async () => {
    const { call, connections } = fixture();
    const { id } = (
      await call('POST', '/auth/connections', { domain: 'slow-check.example', profile_name: 'ann' })
    ).json<{ id: string }>();
    connections.checkIsSlow = true;
    const checked = await call('POST', `/auth/connections/${id}/check`);
    connections.checkIsSlow = false;
    expect([checked.statusCode, checked.json<{ id: string }>().id]).toEqual([202, id]);
    expect(checked.json()).not.toHaveProperty('last_auth_check_at');
  });

  it('checks on demand and lists the timeline', async () => {
    const { call, connections } = fixture();
    const { id } = (
      await call('POST', '/auth/connections', { domain: 'check.example', profile_name: 'ann', health_checks: false })
    ).json<{ id: string }>();
    const checked = await call('POST', `/auth/connections/${id}/check`);
    expect(checked.statusCode).toBe(200);
    expect(checked.json()).toHaveProperty('last_auth_check_at');
    expect(checked.json()).toHaveProperty('last_auth_at');
    await connections.change(id, {}, [
      { id: 'evt_1', type: 'health_check', status: 'NEEDS_AUTH', timestamp: new Date().toISOString() },
    ]);
    const timeline = await call('GET', `/auth/connections/${id}/timeline?type=health_check`);
    expect(timeline.json()).toMatchObject([{ id: 'evt_1', type: 'health_check', status: 'NEEDS_AUTH' }]);
    expect(timeline.headers['x-has-more']).toBe('false');
    expect((await call('GET', `/auth/connections/${id}/timeline?type=party`)).statusCode).toBe(400);
  });
});
