import { chromium } from 'playwright-core';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, vi } from 'vitest';
import type { ProfileState } from '../../store/profile-state/state.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

/** Fills every kind of storage, including values that JSON cannot represent. */
const WRITE = `(async () => {
  localStorage.setItem('token', 'local-1');
  sessionStorage.setItem('tab', 'session-1');
  const open = indexedDB.open('auth', 3);
  open.onupgradeneeded = () => {
    const users = open.result.createObjectStore('users', { keyPath: 'id', autoIncrement: true });
    users.createIndex('byName', 'name', { unique: true });
    open.result.createObjectStore('keys');
  };
  const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt', 'decrypt']);
  const bad = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt']);
  const loop = { self: null }; loop.self = loop;
  const transaction = database.transaction(['users', 'keys'], 'readwrite');
  transaction.objectStore('users').put({ name: 'Ann', since: new Date(86400000), tags: new Set(['a', 'b']), map: new Map([[1, { deep: undefined }]]), none: null });
  const keys = transaction.objectStore('keys');
  keys.put(new Uint8Array([1, 2, 255]), 'bytes');
  keys.put(new Blob(['hello'], { type: 'text/plain' }), 'blob');
  keys.put([NaN, -0, 10n, /x/gi, Infinity], 'odd');
  keys.put(loop, 'loop');
  keys.put(key, 'key');
  keys.put(bad, 'kept in the browser');
  keys.put('by date', new Date(5));
  await new Promise((resolve, reject) => { transaction.oncomplete = resolve; transaction.onerror = reject; });
  database.close();
})()`;
const READ = `(async () => {
  const open = indexedDB.open('auth');
  const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
  const transaction = database.transaction(['users', 'keys']);
  const get = (store, key) => new Promise((resolve) => { const r = transaction.objectStore(store).get(key); r.onsuccess = () => resolve(r.result); });
  const user = await get('users', 1);
  const [bytes, blob, odd, loop, key, bad, dated] = await Promise.all(['bytes', 'blob', 'odd', 'loop', 'key', 'kept in the browser', new Date(5)].map((k) => get('keys', k)));
  const index = transaction.objectStore('users').index('byName');
  const unique = index.unique;
  const version = database.version;
  database.close();
  return [localStorage.token, sessionStorage.tab, version, unique, user.name, user.since.getTime(), [...user.tags].join(), user.map.get(1).deep === undefined && 'deep' in user.map.get(1), user.none,
    [...bytes].join(), await blob.text(), blob.type, odd.map(String).join(), Object.is(odd[1], -0), loop.self === loop, key.algorithm.length, key.usages.join(), bad, dated].map(String).join('|');
})()`;
const EXPECTED =
  'local-1|session-1|3|true|Ann|86400000|a,b|true|null|1,2,255|hello|text/plain|NaN,0,10,/x/gi,Infinity|true|true|256|encrypt,decrypt|undefined|by date';

let service: ServiceUnderTest;
let site: Site;
let other: Site;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  const login: Parameters<typeof startSite>[0] = {
    '/login': (_request, response) => {
      response.writeHead(200, {
        'content-type': 'text/html',
        'set-cookie': [
          'sid=session-cookie; HttpOnly; SameSite=Lax',
          'remember=1; Max-Age=86400; Path=/; SameSite=Strict',
          'wide=1; Path=/login',
        ],
      });
      response.end('logged in');
    },
    '/who': (request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`cookies: ${request.headers.cookie ?? 'none'}`);
    },
    '/logout': (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'sid=; Max-Age=0' });
      response.end('bye');
    },
    '/sw.js': (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/javascript' });
      response.end(
        "addEventListener('fetch', (e) => e.respondWith(new Response('from the worker', { headers: { 'content-type': 'text/html' } }))); addEventListener('activate', (e) => e.waitUntil(clients.claim()))",
      );
    },
  };
  site = await startSite(login);
  other = await startSite(login);
});
afterAll(() => {
  site.close();
  other.close();
});

/** A session with a profile, driven by Playwright. */
async function open(name: string, save = false): Promise<{ id: string; page: Page; end: () => Promise<void> }> {
  const session = await service.kernel.browsers.create({ profile: { name, save_changes: save }, timeout_seconds: 300 });
  const browser = await chromium.connectOverCDP(session.cdp_ws_url);
  return {
    id: session.session_id,
    page: browser.contexts()[0]?.pages()[0] as Page,
    end: async () => {
      await browser.close();
      await service.kernel.browsers.deleteByID(session.session_id);
    },
  };
}
const stateOf = (name: string): ProfileState => service.profiles.get(name)?.state as ProfileState;

describe('profiles', () => {
  it('restore cookies, local storage, session storage and IndexedDB without network requests', async () => {
    service.profiles.create('all');
    const first = await open('all', true);
    await first.page.goto(`${site.origin}/login`);
    await first.page.evaluate(WRITE);
    await first.end();
    expect(
      stateOf('all')
        .cookies.map(({ name }) => name)
        .sort(),
    ).toEqual(['remember', 'sid', 'wide']);
    expect(stateOf('all').cookies.find(({ name }) => name === 'sid')?.expires).toBeUndefined();

    site.requests.length = 0;
    const second = await open('all');
    expect(second.page.url()).toBe('about:blank');
    expect(await second.page.evaluate(() => history.length)).toBe(1);
    expect(site.requests).toEqual([]);
    await second.page.goto(`${site.origin}/who`);
    expect(await second.page.textContent('body')).toBe('cookies: sid=session-cookie; remember=1');
    expect(await second.page.evaluate(READ)).toBe(EXPECTED);
    const cookies = await second.page.context().cookies(`${site.origin}/login`);
    expect(
      cookies
        .map(({ name, domain, path, httpOnly, sameSite, expires }) => [
          name,
          domain,
          path,
          httpOnly,
          sameSite,
          expires > 0,
        ])
        .sort(),
    ).toEqual([
      ['remember', 'localhost', '/', false, 'Strict', true],
      ['sid', 'localhost', '/', true, 'Lax', false],
      ['wide', 'localhost', '/login', false, 'Lax', false],
    ]);
    await second.end();
    expect(service.logs.join('\n')).not.toMatch(/session-cookie|local-1|localhost/);
  });

  it('preserve every attribute of a cookie', async () => {
    service.profiles.create('cookies');
    const first = await open('cookies', true);
    const client = await first.page.context().newCDPSession(first.page);
    const expires = Math.floor(Date.now() / 1000) + 86_400;
    const partitionKey = { topLevelSite: 'https://top.example', hasCrossSiteAncestor: true };
    const host = 'https://app.example.com/';
    const { cookies: before } = await client
      .send('Network.setCookies', {
        cookies: [
          { name: '__Host-sid', value: 'a', url: host, path: '/', secure: true, httpOnly: true },
          {
            name: '__Secure-id',
            value: 'b',
            url: host,
            domain: '.example.com',
            secure: true,
            sameSite: 'Strict',
            expires,
          },
          { name: 'third', value: 'c', url: host, secure: true, sameSite: 'None', partitionKey },
          { name: 'third', value: 'd', url: host, secure: true, sameSite: 'None' },
          {
            name: 'plain',
            value: 'e="x y",ü',
            url: 'http://plain.example.com:8080/deep/',
            path: '/deep',
            priority: 'High',
          },
          { name: '', value: 'nameless', url: host },
        ],
      })
      .then(() => client.send('Storage.getCookies', {}));
    await first.end();
    expect(before.length).toBeGreaterThanOrEqual(5);
    const second = await open('cookies', true);
    const again = await second.page.context().newCDPSession(second.page);
    const { cookies: after } = await again.send('Storage.getCookies', {});
    const sorted = (cookies: typeof before): typeof before =>
      [...cookies].sort((a, b) => a.value.localeCompare(b.value));
    expect(sorted(after)).toEqual(sorted(before));
    await second.end();
    expect(stateOf('cookies').cookies).toHaveLength(before.length);
  });

  it('are only saved on request, including a later PATCH', async () => {
    service.profiles.create('later');
    const first = await open('later');
    await first.page.goto(`${site.origin}/login`);
    await first.end();
    expect(stateOf('later')).toBeNull();

    const second = await open('later');
    await second.page.goto(`${site.origin}/login`);
    const updated = await service.kernel.browsers.update(second.id, { profile: { name: 'later', save_changes: true } });
    expect(updated).toMatchObject({ profile: { name: 'later' }, profile_save_changes: true });
    await expect(service.kernel.browsers.update(second.id, { profile: { name: 'all' } })).rejects.toMatchObject({
      status: 400,
    });
    await second.end();
    expect(stateOf('later').cookies).toHaveLength(3);
  });

  it('keep the changes of two sessions that save concurrently', async () => {
    service.profiles.create('both');
    const [first, second] = await Promise.all([open('both', true), open('both', true)]);
    await first.page.goto(`${site.origin}/login`);
    await second.page.goto(`http://127.0.0.1:${String(other.port)}/login`);
    await first.page.evaluate(() => {
      localStorage.setItem('who', 'first');
    });
    await second.page.evaluate(() => {
      localStorage.setItem('who', 'second');
    });
    await Promise.all([first.end(), second.end()]);
    const third = await open('both');
    await third.page.goto(`${site.origin}/who`);
    expect(await third.page.textContent('body')).toContain('sid=session-cookie');
    expect(await third.page.evaluate(() => localStorage.getItem('who'))).toBe('first');
    await third.page.goto(`http://127.0.0.1:${String(other.port)}/who`);
    expect(await third.page.textContent('body')).toContain('sid=session-cookie');
    expect(await third.page.evaluate(() => localStorage.getItem('who'))).toBe('second');
    await third.end();
  });

  it('drop what the site deleted', async () => {
    service.profiles.create('gone');
    const first = await open('gone', true);
    await first.page.goto(`${site.origin}/login`);
    await first.page.evaluate(() => {
      localStorage.setItem('a', '1');
      localStorage.setItem('b', '1');
    });
    await first.end();
    const second = await open('gone', true);
    await second.page.goto(`${site.origin}/logout`);
    await second.page.evaluate(() => {
      localStorage.removeItem('a');
    });
    await second.end();
    expect(
      stateOf('gone')
        .cookies.map(({ name }) => name)
        .sort(),
    ).toEqual(['remember', 'wide']);
    expect(stateOf('gone').origins[0]?.localStorage).toEqual({ b: '1' });
  });

  it('are saved despite a service worker, an open dialog and a hung page', async () => {
    service.profiles.create('odd');
    const session = await open('odd', true);
    await session.page.goto(`${site.origin}/login`);
    await session.page.evaluate(async () => {
      localStorage.setItem('kept', 'yes');
      await navigator.serviceWorker.register('/sw.js');
      await navigator.serviceWorker.ready;
    });
    const second = await session.page.context().newPage();
    await second.goto(`${site.origin}/who`);
    await second.evaluate(() => {
      setTimeout(() => {
        for (;;);
      }, 0);
    });
    site.requests.length = 0;
    await session.end();
    expect(stateOf('odd').origins[0]?.localStorage).toEqual({ kept: 'yes' });
    expect(site.requests).toEqual([]);
  });

  it('can be attached to a running session once', async () => {
    service.profiles.create('attached');
    const first = await open('attached', true);
    await first.page.goto(`${site.origin}/login`);
    await first.end();
    const session = await service.kernel.browsers.create();
    const updated = await service.kernel.browsers.update(session.session_id, { profile: { name: 'attached' } });
    expect(updated).toMatchObject({ profile: { name: 'attached' }, profile_save_changes: false });
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    const page = browser.contexts()[0]?.pages()[0];
    await page?.goto(`${site.origin}/who`);
    expect(await page?.textContent('body')).toContain('sid=session-cookie');
    await browser.close();
    await service.kernel.browsers.deleteByID(session.session_id);
  });

  it('are not lost while the store is unavailable: the session stays until they are saved', async () => {
    service.profiles.create('patient');
    const session = await open('patient', true);
    await session.page.goto(`${site.origin}/login`);
    const store = vi.spyOn(service.profiles, 'save').mockRejectedValue(new Error('the store is away'));
    await expect(service.kernel.browsers.deleteByID(session.id)).rejects.toMatchObject({ status: 502 });
    expect((await service.kernel.browsers.retrieve(session.id)).session_id).toBe(session.id);
    store.mockRestore();
    await session.end();
    expect(stateOf('patient').cookies).toHaveLength(3);
  });

  it('are unchanged when the browser crashes', async () => {
    service.profiles.create('crash');
    const session = await service.kernel.browsers.create({ profile: { name: 'crash', save_changes: true } });
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    await browser.contexts()[0]?.pages()[0]?.goto(`${site.origin}/login`);
    await browser
      .contexts()[0]
      ?.pages()[0]
      ?.goto('chrome://crash')
      .catch(() => undefined);
    await browser.close();
    expect(stateOf('crash')).toBeNull();
    await service.kernel.browsers.deleteByID(session.session_id).catch(() => undefined);
  });
});
