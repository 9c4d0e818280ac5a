import Kernel from '@onkernel/sdk';
import { describe, expect, it } from 'vitest';
import type { ProxyProbe } from '../../api/context.ts';
import { startApi } from '../../api/service.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { API_KEY, useService } from './service-fixture.ts';

const PASSWORD = 'p:w %ä"密-proxy';
const custom = (change: object = {}) => ({
  type: 'custom',
  config: { host: 'proxy.example', port: 3128, username: 'ann', password: PASSWORD },
  ...change,
});

let probed: Parameters<ProxyProbe>[] = [];
let answer: boolean | HoldfastError = true;
const fixture = useService({
  checkProxy: async (...asked) => {
    probed.push(asked);
    if (typeof answer !== 'boolean') throw answer;
    return answer;
  },
});

async function makeProxy(change: object = {}): Promise<string> {
  const made = await fixture().call('POST', '/proxies', custom(change));
  expect(made.statusCode).toBe(201);
  return made.json<{ id: string }>().id;
}

async function makeConnection(body: object): Promise<{ id: string; browser?: object; proxy_id?: string }> {
  const made = await fixture().call('POST', '/auth/connections', { profile_name: 'proxied', ...body });
  expect(made.statusCode).toBe(201);
  return made.json();
}

describe('proxies', () => {
  it('are created, read, listed, renamed and deleted, and never show their password', async () => {
    const { call } = fixture();
    const made = await call(
      'POST',
      '/proxies',
      custom({ name: ' Büro/1 ', bypass_hosts: ['CDN.example', '*.Img.example'] }),
    );
    expect(made.statusCode).toBe(201);
    const { id } = made.json<{ id: string }>();
    expect(made.json()).toEqual({
      id,
      name: 'Büro/1',
      type: 'custom',
      protocol: 'http',
      bypass_hosts: ['cdn.example', '*.img.example'],
      config: { host: 'proxy.example', port: 3128, username: 'ann', has_password: true },
    });
    const read = await call('GET', `/proxies/${id}`);
    expect(read.json()).toEqual(made.json());
    const renamed = await call('PATCH', `/proxies/${id}`, { name: 'Office' });
    expect(renamed.json()).toMatchObject({ id, name: 'Office' });
    const listed = await call('GET', '/proxies?query=off');
    expect(listed.json()).toEqual([renamed.json()]);
    expect(listed.headers).toMatchObject({ 'x-has-more': 'false', 'x-next-offset': '0' });
    expect((await call('GET', '/proxies?name=off')).json()).toEqual([]);
    for (const { body } of [made, read, renamed, listed]) expect(body).not.toContain('密');
    expect((await call('DELETE', `/proxies/${id}`)).statusCode).toBe(204);
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await call(method, `/proxies/${id}`)).statusCode).toBe(404);
    }
    expect((await call('PATCH', `/proxies/${id}`, { name: 'x' })).statusCode).toBe(404);
    expect((await call('POST', `/proxies/${id}/check`)).statusCode).toBe(404);
  });

  it('are found by name if it is unambiguous', async () => {
    const { call } = fixture();
    const path = `/proxies/${encodeURIComponent('Büro/2')}`;
    const id = await makeProxy({ name: 'Büro/2' });
    expect((await call('GET', path)).json()).toMatchObject({ id });
    expect((await call('POST', `${path}/check`)).json()).toMatchObject({ id, status: 'available' });
    const twin = await makeProxy({ name: 'Büro/2' });
    for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
      const refused = await call(method, path, body);
      expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([400, 'bad_request']);
    }
    expect((await call('PATCH', `/proxies/${twin}`, { name: 'other' })).statusCode).toBe(200);
    expect((await call('PATCH', path, { name: 'Büro 3' })).json()).toMatchObject({ id, name: 'Büro 3' });
    expect((await call('DELETE', `/proxies/${encodeURIComponent('Büro 3')}`)).statusCode).toBe(204);
    expect((await call('GET', `/proxies/${id}`)).statusCode).toBe(404);
  });

  it.each([
    [{ type: 'datacenter', config: { country: 'US' } }, 'type'],
    [{ type: 'residential' }, 'type'],
    [{ type: 'custom' }, 'config'],
    [custom({ config: { host: 'proxy.example' } }), 'config.port'],
    [custom({ config: { host: 'proxy.example', port: 0 } }), 'config.port'],
    [custom({ config: { host: 'http://proxy.example', port: 80 } }), 'config.host'],
    [custom({ config: { host: 'proxy.example:3128', port: 80 } }), 'config.host'],
    [custom({ config: { host: '10.0.0.1', port: 3128 } }), 'config.host'],
    [custom({ config: { host: '0x7f.1', port: 3128 } }), 'config.host'],
    [custom({ config: { host: '::ffff:127.0.0.1', port: 3128 } }), 'config.host'],
    [custom({ config: { host: 'localhost', port: 3128 } }), 'config.host'],
    [custom({ config: { host: 'p.example', port: 1, username: 'a:b' } }), 'config.username'],
    [custom({ config: { host: 'p.example', port: 1, password: 'a\r\nb' } }), 'config.password'],
    [custom({ config: { host: 'p.example', port: 1, ca_bundle: 'PEM' } }), 'config.ca_bundle'],
    [custom({ protocol: 'socks5' }), 'protocol'],
    [custom({ bypass_hosts: ['a.example:80'] }), 'bypass_hosts.0'],
    [custom({ name: '' }), 'name'],
    [custom({ colour: 'red' }), 'colour'],
  ])('refuse %j, naming the field, and keep nothing', async (body, field) => {
    const { call } = fixture();
    const before = (await call('GET', '/proxies?limit=100')).json<unknown[]>().length;
    const response = await call('POST', '/proxies', body);
    expect(response.statusCode).toBe(400);
    const { details } = response.json<{ details: { message: string }[] }>();
    expect(details[0]?.message.split(':')[0]).toBe(field);
    expect(response.body).not.toContain('密');
    expect((await call('GET', '/proxies?limit=100')).json()).toHaveLength(before);
  });

  it('may be private if the operator listed host and port', async () => {
    const { call } = fixture();
    const at = (port: number) => call('POST', '/proxies', custom({ config: { host: 'localhost', port } }));
    expect((await at(8081)).statusCode).toBe(201);
    expect((await at(8082)).statusCode).toBe(400);
  });

  it('are checked with their password, and store the result unless a target was given', async () => {
    const { call } = fixture();
    const id = await makeProxy();
    probed = [];
    answer = false;
    const down = await call('POST', `/proxies/${id}/check`);
    expect(down.json()).toMatchObject({ id, status: 'unavailable' });
    expect(down.json()).toHaveProperty('last_checked');
    answer = true;
    const named = await call('POST', `/proxies/${id}/check`, { url: 'https://shop.example/' });
    expect(named.json()).toMatchObject({ id, status: 'available' });
    expect((await call('GET', `/proxies/${id}`)).json()).toEqual(down.json());
    expect(probed.map(([proxy, url]) => [proxy.password, url])).toEqual([
      [PASSWORD, undefined],
      [PASSWORD, 'https://shop.example/'],
    ]);
    expect(named.body + down.body).not.toContain('密');
    answer = new HoldfastError('invalid_input', 'url: its host must resolve to a public address');
    expect((await call('POST', `/proxies/${id}/check`, { url: 'http://10.0.0.1/' })).statusCode).toBe(400);
    answer = true;
    expect((await call('POST', `/proxies/${id}/check`, { url: 'file:///etc/passwd' })).statusCode).toBe(400);
  });

  it('stay within their project and organization', async () => {
    const { app, call, store } = fixture();
    const id = await makeProxy({ name: 'mine' });
    const project = await store.projects.create('org_default', { name: 'elsewhere' });
    const other = (await call('POST', '/org/api_keys', { name: 'k', project_id: project.id })).json<{ key: string }>();
    const as = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
      app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${other.key}` },
        ...(payload === undefined ? {} : { payload }),
      });
    expect((await as('GET', `/proxies/${id}`)).statusCode).toBe(404);
    expect((await as('PATCH', `/proxies/${id}`, { name: 'stolen' })).statusCode).toBe(404);
    expect((await as('DELETE', `/proxies/${id}`)).statusCode).toBe(404);
    expect((await as('POST', `/proxies/${id}/check`)).statusCode).toBe(404);
    expect((await as('GET', '/proxies')).json()).toEqual([]);
    for (const proxy of [{ id }, { name: 'mine' }]) {
      const refused = await as('POST', '/auth/connections', {
        domain: 'a.example',
        profile_name: 'p',
        browser: { proxy },
      });
      expect(refused.statusCode).toBe(400);
    }
    expect((await call('GET', `/proxies/${id}`)).json()).toMatchObject({ name: 'mine' });
  });
});

describe("a connection's proxy", () => {
  it('is stored by id, however it was given, and shown in both fields', async () => {
    const { call } = fixture();
    const id = await makeProxy({ name: 'chosen' });
    const bodies = [
      { browser: { proxy: { id } } },
      { browser: { proxy: { name: 'chosen' }, stealth: false } },
      { proxy: { id } },
      { proxy: { name: 'chosen' } },
    ];
    for (const [index, body] of bodies.entries()) {
      const made = await makeConnection({ domain: `p${String(index)}.example`, ...body });
      expect(made).toMatchObject({ browser: { proxy: { id } }, proxy_id: id });
      expect((await call('GET', `/auth/connections/${made.id}`)).json()).toEqual(made);
    }
    const direct = await makeConnection({ domain: 'direct.example', browser: { proxy: { mode: 'direct' } } });
    expect(direct).toMatchObject({ browser: { proxy: { mode: 'direct' } } });
    expect(direct).not.toHaveProperty('proxy_id');
  });

  it('is changed by an update, and kept by one without it', async () => {
    const { call } = fixture();
    const [first, second] = [await makeProxy(), await makeProxy()];
    const { id } = await makeConnection({
      domain: 'change.example',
      browser: { proxy: { id: first }, stealth: false },
    });
    const patch = async (body: object) => (await call('PATCH', `/auth/connections/${id}`, body)).json<object>();
    expect(await patch({ browser: { stealth: true } })).toMatchObject({
      browser: { proxy: { id: first }, stealth: true },
      proxy_id: first,
    });
    expect(await patch({ proxy: { id: second } })).toMatchObject({
      browser: { proxy: { id: second }, stealth: true },
      proxy_id: second,
    });
    const direct = await patch({ browser: { proxy: { mode: 'direct' } } });
    expect(direct).toMatchObject({ browser: { proxy: { mode: 'direct' }, stealth: true } });
    expect(direct).not.toHaveProperty('proxy_id');
    const refused = await call('PATCH', `/auth/connections/${id}`, { browser: { proxy: { id: 'prx_unknown' } } });
    expect(refused.statusCode).toBe(400);
    expect((await call('GET', `/auth/connections/${id}`)).json()).toEqual(direct);
  });

  it('is rejected by an ambiguous name, and by the name of a deleted proxy', async () => {
    const { call } = fixture();
    const first = await makeProxy({ name: 'double' });
    await makeProxy({ name: 'double' });
    const create = (browser: object) =>
      call('POST', '/auth/connections', { domain: 'double.example', profile_name: 'd', browser });
    const ambiguous = await create({ proxy: { name: 'double' } });
    expect(ambiguous.statusCode).toBe(400);
    expect(ambiguous.json<{ message: string }>().message).toMatch(/^browser\.proxy\.name: several/);
    await call('DELETE', `/proxies/${first}`);
    expect((await create({ proxy: { id: first } })).statusCode).toBe(400);
    expect((await create({ proxy: { name: 'double' } })).statusCode).toBe(201);
  });

  it('is validated when a login selects another', async () => {
    const { call } = fixture();
    const proxy = await makeProxy();
    const { id } = await makeConnection({ domain: 'login.example' });
    const login = (body: object) => call('POST', `/auth/connections/${id}/login`, body);
    expect((await login({ browser: { proxy: { id: 'prx_unknown' } } })).statusCode).toBe(400);
    expect((await login({ proxy: { name: 'unknown' } })).statusCode).toBe(400);
    expect((await call('GET', `/auth/connections/${id}`)).json()).toMatchObject({ flow_status: null });
    expect((await login({ browser: { proxy: { id: proxy } } })).statusCode).toBe(200);
  });
});

it('proxies work with the unmodified client', async () => {
  const api = await startApi({ ...fixture().deps, port: 0 });
  try {
    const kernel = new Kernel({ apiKey: API_KEY, baseURL: api.url, maxRetries: 0 });
    const made = await kernel.proxies.create({
      type: 'custom',
      name: 'sdk',
      protocol: 'https',
      config: { host: 'sdk.example', port: 443, username: 'ann', password: PASSWORD },
    });
    const id = made.id ?? '';
    expect(await kernel.proxies.retrieve(id)).toEqual(made);
    expect(await kernel.proxies.update(id, { name: 'sdk 2' })).toMatchObject({ id, name: 'sdk 2', protocol: 'https' });
    const names: (string | undefined)[] = [];
    for await (const proxy of kernel.proxies.list({ limit: 1 })) names.push(proxy.name);
    expect(names).toContain('sdk 2');
    expect(names.length).toBeGreaterThan(1);
    expect(await kernel.proxies.check(id)).toMatchObject({ status: 'available' });
    await kernel.proxies.delete(id);
    await expect(kernel.proxies.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(kernel.proxies.create({ type: 'mobile', config: {} })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('type: must be `custom`') as string,
    });
  } finally {
    await api.close();
  }
});
