import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startUpstreamProxy, UPSTREAM_LOGIN, type UpstreamProxy } from '../egress/upstream-proxy.ts';
import { freePort } from '../setup/free-port-block.ts';
import { startInstallation, type Installation } from './installation.ts';
import { newPerson } from './person.ts';
import { apiErrorOf } from './api-error.ts';

let on: Installation;
let upstream: UpstreamProxy;
let deadPort: number;

beforeAll(async () => {
  upstream = await startUpstreamProxy();
  deadPort = await freePort();
  on = await startInstallation({ allowHosts: [upstream.port, deadPort].map((port) => `localhost:${port}`) });
});
afterAll(async () => {
  await on.close();
  await upstream.close();
});

async function proxyAt(port: number, password = UPSTREAM_LOGIN.password): Promise<string> {
  const { username } = UPSTREAM_LOGIN;
  const { id } = await on.kernel.proxies.create({
    type: 'custom',
    config: { host: 'localhost', port, username, password },
  });
  return id ?? '';
}

/** Requests to the practice site through the upstream. */
const throughUpstream = (): string[] => upstream.requests.filter((request) => request.includes(on.practice.url));

describe('a login through a proxy', () => {
  test('reaches the site only through it, as do its checks and its re-authentication', async () => {
    const { kernel, practice } = on;
    const { password } = practice.user('alice');
    await kernel.credentials.create({
      name: 'alice',
      domain: practice.domain,
      values: { username: 'alice', password },
    });
    const id = await proxyAt(upstream.port);
    const person = await newPerson(on, {
      login_url: practice.page('/login'),
      credential: { name: 'alice' },
      proxy: { id },
    });
    await person.login();
    expect(await person.waitForSuccess()).toMatchObject({ proxy_id: id, browser: { proxy: { id } } });
    expect(throughUpstream()).toContain(`GET ${practice.page('/login')}`);
    expect(throughUpstream().filter((request) => request.startsWith('POST '))).toHaveLength(1);

    const check = async () => {
      upstream.requests.length = 0;
      const { status } = await kernel.post<{ status: string }>(`/auth/connections/${person.id}/check`);
      const { items } = await kernel.auth.connections.timeline(person.id);
      return { status, ...items.find(({ type }) => type === 'health_check') };
    };
    const reached = () => upstream.requests.filter((request) => request.includes(practice.domain));
    for (const method of ['browser', 'request']) {
      expect(await check()).toMatchObject({ status: 'AUTHENTICATED', check: { method } });
      expect(reached()).not.toEqual([]);
    }
    // A check without the proxy would find the session expired.
    await practice.expire('alice');
    await kernel.auth.connections.update(person.id, { proxy: { id: await proxyAt(deadPort) } });
    expect(await check()).toMatchObject({ status: 'AUTHENTICATED', error_code: 'network_error' });

    await kernel.auth.connections.update(person.id, { proxy: { id } });
    await check();
    const again = await person.waitForReauth();
    expect(again).toMatchObject({ flow_status: 'SUCCESS', status: 'AUTHENTICATED' });
    expect(throughUpstream().filter((request) => request.startsWith('POST '))).toHaveLength(1);
  });

  test('ends with a reason and types nothing if the proxy is down or rejects its password', async () => {
    const { kernel, practice } = on;
    const { password } = practice.user('bob');
    await kernel.credentials.create({ name: 'bob', domain: practice.domain, values: { username: 'bob', password } });
    const cases = [
      [await proxyAt(deadPort), 'does not answer'],
      [await proxyAt(upstream.port, 'not-the-password'), 'refuses its user name or password'],
    ] as const;
    for (const [id, message] of cases) {
      const person = await newPerson(on, {
        login_url: practice.page('/login'),
        credential: { name: 'bob' },
        proxy: { id },
      });
      await person.login();
      const end = await person.waitForEnd();
      expect(end).toMatchObject({ flow_status: 'FAILED', error_code: 'network_error' });
      expect(end.error_message).toContain(message);
      expect(JSON.stringify(end)).not.toContain('not-the-password');
    }
    expect(await practice.counts('bob')).toMatchObject({ posts: 0, passwords: 0 });
  });

  test('ends with a reason if the proxy was deleted, and never connects directly', async () => {
    const { kernel, practice } = on;
    const id = await proxyAt(upstream.port);
    const person = await newPerson(on, { login_url: practice.page('/login'), proxy: { id } });
    await kernel.proxies.delete(id);
    await person.login();
    const end = await person.waitForEnd();
    expect(end).toMatchObject({ flow_status: 'FAILED', error_code: 'network_error', proxy_id: id });
    expect(end.error_message).toContain('no longer exists');
    expect((await apiErrorOf(kernel.auth.connections.login(person.id, { proxy: { id } }))).status).toBe(400);
  });

  test("is rejected if the proxy's address is private and not listed", async () => {
    expect((await apiErrorOf(proxyAt(9))).status).toBe(400);
  });

  test("uses a proxy that is also available to the caller's sessions and to checks on request", async () => {
    const { kernel, practice } = on;
    const id = await proxyAt(upstream.port);
    const session = await kernel.browsers.create({ proxy_id: id });
    expect(session.proxy_id).toBe(id);
    await kernel.browsers.deleteByID(session.session_id);
    const check = (proxy: string) => kernel.proxies.check(proxy, { url: `${practice.url}/login` });
    expect(await check(id)).toMatchObject({ status: 'available' });
    expect(await check(await proxyAt(deadPort))).toMatchObject({ status: 'unavailable' });
    expect(await check(await proxyAt(upstream.port, 'wrong'))).toMatchObject({ status: 'unavailable' });
  });
});
