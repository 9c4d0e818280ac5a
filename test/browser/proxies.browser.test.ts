import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Browser } from '../../contract/browsers.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { startUpstreamProxy, UPSTREAM_LOGIN, type UpstreamProxy } from '../egress/upstream-proxy.ts';
import { memoryProxies } from './memory-proxies.ts';
import {
  API_KEY,
  containing,
  startService,
  startSite,
  type ServiceUnderTest,
  type Site,
} from './service-under-test.ts';

const proxies = memoryProxies();
let service: ServiceUnderTest;
let site: Site;
let inside: Site;
let first: UpstreamProxy;
let second: UpstreamProxy;

beforeAll(async () => {
  site = await startSite({ '/': '<title>Home</title>home' });
  inside = await startSite({ '/': 'inside' });
  [first, second] = [await startUpstreamProxy(['far.test']), await startUpstreamProxy(['far.test'])];
  const dead = await deadPort();
  const listed = [first.port, second.port, site.port, dead].map((port) => `localhost:${String(port)}`);
  service = await startService({
    policy: createEgressPolicy(listed.join(',')),
    proxies,
    warmBrowsers: 1,
    resolver: async (host) => {
      if (host === 'localhost' || host === 'inner.test') return [{ address: '127.0.0.1', family: 4 }];
      throw new Error('unknown');
    },
  });
  proxies.add('prx_first', first.port, { name: 'first', bypassHosts: ['localhost'] });
  proxies.add('prx_second', second.port, { name: 'second' });
  proxies.add('prx_wrong', first.port, { password: 'wrong', name: 'twice' });
  proxies.add('prx_dead', dead, { name: 'twice' });
  proxies.add('prx_private', first.port, { host: '127.0.0.1' });
});
afterAll(async () => {
  await service.stop();
  await Promise.all([first.close(), second.close()]);
  site.close();
  inside.close();
});
beforeEach(() => {
  for (const { requests } of [first, second]) requests.length = 0;
});

/** A port that nobody listens on. */
async function deadPort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function ask(
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: Browser; text: string }> {
  const response = await fetch(`${service.handle.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: (text === '' ? null : JSON.parse(text)) as Browser };
}

/** Opens a session, drives it, and ends it. */
async function within(request: object, drive: (page: Page, session: Browser) => Promise<void>): Promise<void> {
  const { status, body, text } = await ask('POST', '/browsers', { timeout_seconds: 300, ...request });
  expect([status, text]).toEqual([200, text]);
  const browser = await chromium.connectOverCDP(body.cdp_ws_url);
  try {
    const page = browser.contexts()[0]?.pages()[0];
    if (page === undefined) throw new Error('no page');
    await drive(page, body);
  } finally {
    await browser.close();
    await ask('DELETE', `/browsers/${body.session_id}`);
  }
}

const far = (path = '/'): string => `http://far.test:${String(site.port)}${path}`;

describe('a session with a proxy', () => {
  it.each([
    [{ proxy: { id: 'prx_first' } }],
    [{ proxy: { name: 'first' } }],
    [{ proxy_id: 'prx_first' }],
    [{ proxy_id: 'prx_first', headless: false }],
  ])('goes out through it, and its login is never seen: %j', async (request) => {
    await within(request, async (page, session) => {
      expect(session).toMatchObject({ proxy: { id: 'prx_first', name: 'first' }, proxy_id: 'prx_first' });
      await page.goto(far('/?path'));
      expect(await page.title()).toBe('Home');
      expect(first.requests).toContain(`GET ${far('/?path')}`);
      // What goes past the proxy is guarded all the same.
      await page.goto(`${site.origin}/`);
      expect(await page.title()).toBe('Home');
      expect(first.requests.filter((request) => request.includes('localhost'))).toEqual([]);
      const listed = await ask('GET', '/browsers?query=prx_first');
      expect(listed.text).toContain(session.session_id);
      expect(listed.text + service.logs.join('')).not.toContain(UPSTREAM_LOGIN.password);
    });
  });

  it('cannot reach private addresses through it', async () => {
    await within({ proxy: { id: 'prx_second' } }, async (page) => {
      for (const host of ['127.0.0.1', '[::1]', 'inner.test', 'localhost', '0x7f.1', '2130706433']) {
        await page.goto(`http://${host}:${String(inside.port)}/`).catch(() => undefined);
        expect(await page.textContent('body').catch(() => ''), host).not.toContain('inside');
      }
    });
    expect(inside.requests).toEqual([]);
    // The browser has errands of its own; none of them are to these.
    expect(second.requests.filter((request) => request.includes(String(inside.port)))).toEqual([]);
  });

  it('can change, remove and restore it while running', async () => {
    await within({}, async (page, { session_id: id, proxy }) => {
      expect(proxy).toBeUndefined();
      const patch = async (body: object): Promise<Browser> => (await ask('PATCH', `/browsers/${id}`, body)).body;
      expect(await patch({ proxy: { id: 'prx_first' } })).toMatchObject({ proxy_id: 'prx_first' });
      await page.goto(far());
      expect(await patch({ proxy: { name: 'second' } })).toMatchObject({ proxy: { id: 'prx_second' } });
      await page.goto(far());
      expect([first.requests, second.requests].map((requests) => requests.includes(`GET ${far()}`))).toEqual([
        true,
        true,
      ]);
      expect(await patch({ proxy: { mode: 'direct' } })).toMatchObject({ proxy: { mode: 'direct' } });
      await page.goto(far()).catch(() => undefined);
      expect(await page.title()).not.toBe('Home');
      expect(await patch({ proxy_id: 'prx_first' })).toMatchObject({ proxy_id: 'prx_first' });
      // What says nothing of it leaves it.
      expect(await patch({ timeout_seconds: 200 })).toMatchObject({ proxy_id: 'prx_first' });
      proxies.add('prx_third', first.port);
      expect(await patch({ proxy: { id: 'prx_third' } })).toMatchObject({ proxy: { id: 'prx_third' } });
      proxies.remove('prx_third');
      await page.goto(far('/?after'));
      expect(await page.title()).toBe('Home');
      for (const gone of [{ proxy_id: '' }, { proxy: { mode: 'default' } }]) {
        const cleared = await patch(gone);
        expect(cleared).not.toHaveProperty('proxy');
        expect(cleared).not.toHaveProperty('proxy_id');
      }
    });
  });

  it.each([
    ['prx_wrong', 'credentials_refused'],
    ['prx_dead', 'unreachable'],
    ['prx_private', 'address_refused'],
  ])('says what fails on the way to %s: %s', async (id, fault) => {
    await within({ proxy: { id } }, async (page, session) => {
      for (const url of [far(), far().replace('http:', 'https:')]) {
        const response = await page.goto(url).catch(() => null);
        expect(response?.ok() ?? false, url).toBe(false);
        const { body } = await ask('GET', `/browsers/${session.session_id}`);
        expect(body.proxy).toMatchObject({ id, last_fault: fault });
      }
      const { body } = await ask('PATCH', `/browsers/${session.session_id}`, { proxy: { id: 'prx_second' } });
      expect(body.proxy).toMatchObject({ id: 'prx_second' });
      expect(body.proxy?.last_fault).not.toBe(fault);
      // The first page may still be about to show the browser's own error.
      const next = await page.context().newPage();
      await next.goto(far());
      expect(await next.title()).toBe('Home');
    });
  });
});

describe('a session is rejected, and a failed update changes nothing', () => {
  it.each([
    [{ proxy: { id: 'prx_none' } }, 'proxy.id:'],
    [{ proxy: { name: 'none' } }, 'proxy.name:'],
    [{ proxy: { name: 'twice' } }, 'proxy.name: several'],
    [{ proxy_id: 'prx_none' }, 'proxy_id:'],
    [{ proxy: {} }, 'proxy'],
    [{ proxy: { id: 'prx_first', mode: 'direct' } }, 'proxy'],
    [{ proxy: { id: 'prx_first' }, proxy_id: 'prx_first' }, 'proxy_id:'],
  ])('for %j', async (body, message) => {
    const countAll = async (): Promise<number> => {
      const all: unknown = (await ask('GET', '/browsers?status=all')).body;
      return Array.isArray(all) ? all.length : NaN;
    };
    const before = await countAll();
    expect(await ask('POST', '/browsers', body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', message: containing(message) },
    });
    expect(await countAll()).toBe(before);
    const { body: session } = await ask('POST', '/browsers', { proxy_id: 'prx_first' });
    expect(await ask('PATCH', `/browsers/${session.session_id}`, { name: 'new', ...body })).toMatchObject({
      status: 400,
      body: { message: containing(message) },
    });
    const { body: after } = await ask('GET', `/browsers/${session.session_id}`);
    expect(after).toMatchObject({ proxy_id: 'prx_first' });
    expect(after).not.toHaveProperty('name');
    await ask('DELETE', `/browsers/${session.session_id}`);
  });
});
