import type Kernel from '@onkernel/sdk';
import { chromium } from 'playwright-core';
import { afterAll, afterEach, describe, expect } from 'vitest';
import { memoryPools } from './memory-pools.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { API_KEY, containing, eventually, startService, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let kernel: Kernel;
let site: Site;
it.beforeAll(async ({ service: shared }) => {
  service = shared;
  ({ kernel } = service);
  site = await startSite({ '/': '<title>first</title>', '/next': '<title>next</title>' });
});
afterAll(() => {
  site.close();
});
afterEach(async () => {
  for await (const { id } of kernel.browserPools.list()) await kernel.browserPools.delete(id, { force: true });
});

const PLAIN = { headless: true, fill_rate_per_minute: 100 };

/** Resolves once so many wait in a pool. */
const filled = (id: string, count: number) =>
  eventually(async () => {
    const pool = await kernel.browserPools.retrieve(id);
    expect(pool.available_count).toBe(count);
    return pool;
  });

describe('a browser pool', () => {
  it('leases idle browsers, and takes them back', async () => {
    const pool = await kernel.browserPools.create({
      ...PLAIN,
      size: 2,
      name: 'crawlers',
      start_url: `${site.origin}/`,
      stealth: true,
      timeout_seconds: 300,
      viewport: { width: 800, height: 600 },
    });
    expect(pool).toMatchObject({ name: 'crawlers', acquired_count: 0, extension_ids: [], region: 'us-east' });
    await filled(pool.id, 2);
    // What waits is nobody's session.
    expect((await kernel.browsers.list()).items).toEqual([]);

    const session = await kernel.browserPools.acquire('crawlers', { name: 'mine', tags: { job: '7' } });
    expect(session).toMatchObject({
      pool: { id: pool.id, name: 'crawlers' },
      name: 'mine',
      tags: { job: '7' },
      headless: true,
      stealth: true,
      timeout_seconds: 300,
      viewport: { width: 800, height: 600 },
      start_url: `${site.origin}/`,
    });
    expect(await kernel.browsers.retrieve('mine')).toMatchObject({ session_id: session.session_id });
    await expect(kernel.browserPools.acquire('crawlers', { name: 'mine' })).rejects.toMatchObject({ status: 409 });
    const browser = await chromium.connectOverCDP(session.cdp_ws_url, { noDefaults: true });
    const page = browser.contexts()[0]?.pages()[0];
    await eventually(async () => expect(await page?.title()).toBe('first'));
    await page?.goto(`${site.origin}/next`);
    expect(await kernel.browserPools.retrieve(pool.id)).toMatchObject({ acquired_count: 1, available_count: 1 });

    const cut = new Promise((resolve) => browser.once('disconnected', resolve));
    await kernel.browserPools.release(pool.id, { session_id: session.session_id });
    await cut;
    expect(await kernel.browserPools.retrieve(pool.id)).toMatchObject({ acquired_count: 0, available_count: 2 });
    await expect(kernel.browsers.retrieve(session.session_id)).rejects.toMatchObject({ status: 404 });
    await expect(chromium.connectOverCDP(session.cdp_ws_url)).rejects.toThrow();
    await expect(kernel.browserPools.release(pool.id, { session_id: session.session_id })).rejects.toMatchObject({
      status: 404,
    });

    // The same browser again, as it was left, as a session of its own.
    const titles = [];
    for (const again of [
      await kernel.browserPools.acquire(pool.id, {}),
      await kernel.browserPools.acquire(pool.id, {}),
    ]) {
      expect(again).not.toHaveProperty('name');
      expect(again).not.toHaveProperty('tags');
      const other = await chromium.connectOverCDP(again.cdp_ws_url, { noDefaults: true });
      titles.push(await other.contexts()[0]?.pages()[0]?.title());
      await other.close();
    }
    expect(titles.toSorted()).toEqual(['first', 'next']);
  });

  it('serves callers in order, until their timeout', async () => {
    const { id } = await kernel.browserPools.create({ ...PLAIN, size: 1 });
    const first = await kernel.browserPools.acquire(id, {});
    expect(await kernel.browserPools.acquire(id, { acquire_timeout_seconds: 0 })).toBeNull();
    const gone = new AbortController();
    const left = kernel.browserPools.acquire(id, {}, { signal: gone.signal });
    const order: string[] = [];
    const serve = async (name: string) => {
      const { session_id } = await kernel.browserPools.acquire(id, { name });
      order.push(name);
      await kernel.browserPools.release(id, { session_id });
    };
    const others = [serve('b'), serve('c'), serve('d')];
    gone.abort();
    await expect(left).rejects.toThrow(/abort/);
    await kernel.browserPools.release(id, { session_id: first.session_id, reuse: false });
    await Promise.all(others);
    expect(order).toEqual(['b', 'c', 'd']);
    expect(await filled(id, 1)).toMatchObject({ acquired_count: 0 });
  });

  it('replaces dead, flushed, discarded and abandoned browsers', async () => {
    const { id } = await kernel.browserPools.create({ ...PLAIN, size: 1 });
    await filled(id, 1);
    const first = await kernel.browserPools.acquire(id, {});
    const browser = await chromium.connectOverCDP(first.cdp_ws_url, { noDefaults: true });
    const cdp = await browser.newBrowserCDPSession();
    const { processInfo } = await cdp.send('SystemInfo.getProcessInfo');
    await kernel.browserPools.release(id, { session_id: first.session_id });
    process.kill(processInfo.find(({ type }) => type === 'browser')?.id ?? 0, 'SIGKILL');
    const second = await kernel.browserPools.acquire(id, {});
    expect(second.session_id).not.toBe(first.session_id);
    await kernel.browsers.deleteByID(second.session_id);
    const third = await kernel.browserPools.acquire(id, {});
    await kernel.browserPools.release(id, { session_id: third.session_id });
    await kernel.browserPools.flush(id);
    const fourth = await kernel.browserPools.acquire(id, {});
    expect(new Set([first, second, third, fourth].map(({ session_id }) => session_id)).size).toBe(4);
    expect((await kernel.browsers.list()).items.map(({ session_id }) => session_id)).toEqual([fourth.session_id]);
  });

  it('refreshes when its profile changes', async () => {
    const cookie = { name: 'who', value: 'a', domain: 'localhost', path: '/', httpOnly: false, secure: false };
    const { id: profileId } = service.profiles.create('pooled', { cookies: [cookie], origins: [] });
    const { id, ...pool } = await kernel.browserPools.create({ ...PLAIN, size: 1, profile: { name: 'pooled' } });
    expect(pool).toMatchObject({ profile_id: profileId, browser_pool_config: { refresh_on_profile_update: true } });
    await filled(id, 1);
    await service.profiles.save('', profileId, () => ({ cookies: [{ ...cookie, value: 'b' }], origins: [] }));
    const { cdp_ws_url: url } = await kernel.browserPools.acquire(id, {});
    const browser = await chromium.connectOverCDP(url, { noDefaults: true });
    expect(await browser.contexts()[0]?.cookies()).toMatchObject([{ name: 'who', value: 'b' }]);
    await browser.close();
  });

  it('applies configuration changes to new browsers', async () => {
    const { id } = await kernel.browserPools.create({ ...PLAIN, size: 1, name: 'old', start_url: `${site.origin}/` });
    await filled(id, 1);
    const changed = await kernel.browserPools.update(id, {
      name: 'new',
      size: 2,
      start_url: '',
      stealth: true,
      discard_all_idle: true,
    });
    expect(changed).toMatchObject({ name: 'new', browser_pool_config: { name: 'new', size: 2, stealth: true } });
    expect(changed.browser_pool_config.start_url).toBeUndefined();
    expect(await kernel.browserPools.acquire('new', {})).toMatchObject({ stealth: true });
    await expect(kernel.browserPools.delete('new')).rejects.toMatchObject({ status: 422 });
    await kernel.browserPools.delete('new', { force: true });
    expect((await kernel.browsers.list()).items).toEqual([]);
    await expect(kernel.browserPools.retrieve('new')).rejects.toMatchObject({ status: 404 });
  });

  it.for([
    [{ size: 7 }, 400, 'size: '],
    [{ size: 0 }, 400, 'size'],
    [{ size: 1, profile: { name: 'nobody' } }, 404, 'profile: '],
    [{ size: 1, extensions: [{ name: 'none' }] }, 400, 'extensions[0]: '],
    [{ size: 1, proxy_id: 'prx_none' }, 400, 'proxy_id: '],
    [{ size: 1, start_url: 'http://10.0.0.1/' }, 400, 'start_url'],
    [{ size: 1, chrome_policy: { ProxySettings: {} } }, 400, 'chrome_policy'],
    [{ size: 1, refresh_on_profile_update: true }, 400, 'refresh_on_profile_update: '],
    [{ size: 1, name: 'taken' }, 409, 'name: '],
  ] as const)('is not made of %j', async ([wrong, status, message]) => {
    await kernel.browserPools.create({ headless: true, size: 1, fill_rate_per_minute: 0, name: 'taken' });
    const body = { headless: true, ...structuredClone(wrong) };
    const refused = kernel.browserPools.create(body as Parameters<Kernel['browserPools']['create']>[0]);
    await expect(refused).rejects.toMatchObject({ status, message: containing(message) });
  });

  it('fills up when the service starts, and counts toward its session limit', async () => {
    const pools = memoryPools();
    const before = await startService({ pools, maxSessions: 2 });
    const { id } = await before.kernel.browserPools.create({ ...PLAIN, size: 1 });
    const two = before.kernel.browserPools.update(id, { size: 2 });
    await expect(two).rejects.toThrow('size: pools may have 1 more browsers (1 of 2 sessions are reserved for logins');
    await before.stop();
    const after = await startService({
      pools,
      maxSessions: 2,
      sessionLimit: async (id) => (id === 'prj_default' ? 1 : null),
    });
    expect(await after.kernel.browserPools.acquire(id, {})).toMatchObject({ pool: { id } });
    const again = () => after.kernel.browsers.create({ headless: true });
    await expect(again()).rejects.toThrow(/^529 The project has reached its limit of 1 browser sessions/);
    const other = { authorization: `Bearer ${API_KEY}`, 'x-kernel-project-id': 'prj_other' };
    expect((await fetch(`${after.handle.url}/browser_pools/${id}`, { headers: other })).status).toBe(404);
    const elsewhere = () => after.kernel.browsers.create({ headless: true }, { headers: other });
    await elsewhere();
    await expect(elsewhere()).rejects.toThrow(/^529 All 2 browser sessions are in use/);
    await after.stop();
  });
});
