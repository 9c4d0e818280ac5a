import { readdir } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { toFile } from '@onkernel/sdk';
import { chromium } from 'playwright-core';
import { afterAll, describe, expect } from 'vitest';
import { ZipFile } from 'yazl';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { API_KEY, containing, eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let site: Site;
it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({ '/': '<title>page</title>' });
});
afterAll(() => {
  site.close();
});

const MANIFEST = {
  manifest_version: 3,
  name: 'marks',
  version: '1.0',
  key: 'not a key at all',
  permissions: ['storage', 'scripting'],
  host_permissions: ['<all_urls>'],
  background: { service_worker: 'worker.js' },
  content_scripts: [{ matches: ['<all_urls>'], js: ['mark.js'] }],
};
/** Tells pages, which ask by an attribute, what the extension itself can reach. */
const WORKER = `
  const ask = (url) => fetch(url).then((answer) => answer.text(), () => 'refused');
  chrome.runtime.onMessage.addListener((urls, _, answer) => {
    Promise.all(urls.map(ask)).then((texts) =>
      answer({ texts, proxy: typeof chrome.proxy, debugger: typeof chrome.debugger }));
    return true;
  });`;
const MARK = `document.title = 'marked ' + document.title;
  addEventListener('message', ({ data }) => {
    if (data.ask) chrome.runtime.sendMessage(data.ask, (answer) => postMessage({ answer }));
  });`;

async function zip(entries: Record<string, string>) {
  const archive = new ZipFile();
  for (const [name, text] of Object.entries(entries)) archive.addBuffer(Buffer.from(text), name);
  archive.end();
  const pieces: Buffer[] = [];
  for await (const piece of archive.outputStream) pieces.push(Buffer.from(piece as Buffer));
  return toFile(Buffer.concat(pieces), 'extension.zip');
}
const extension = (changes: object = {}, more: Record<string, string> = {}) =>
  zip({
    'manifest.json': JSON.stringify({ ...MANIFEST, ...changes }),
    'worker.js': WORKER,
    'mark.js': MARK,
    ...more,
  });

async function open(headless = true, extensions: { id: string }[] = []) {
  const session = await service.kernel.browsers.create({ headless, timeout_seconds: 300, extensions });
  const browser = await chromium.connectOverCDP(session.cdp_ws_url, { noDefaults: true });
  const page = browser.contexts()[0]?.pages()[0];
  if (page === undefined) throw new Error('no page');
  const load = async (name: string, file: Awaited<ReturnType<typeof zip>>) =>
    service.kernel.browsers.loadExtensions(session.session_id, { extensions: [{ name, zip_file: file }] });
  return { id: session.session_id, browser, page, load };
}

describe.each([true, false])('an extension (headless %s)', (headless) => {
  it('works in the running browser, with no more access than its session', async () => {
    const { id, browser, page, load } = await open(headless);
    const inside = http.createServer((_, response) => response.end('inside'));
    await new Promise<void>((resolve) => server(inside, resolve));
    const { port } = inside.address() as AddressInfo;
    await load('marks', await extension());
    await page.goto(`${site.origin}/`);
    await eventually(async () => expect(await page.title()).toBe('marked page'));
    expect(browser.isConnected()).toBe(true);
    const ask = [`${site.origin}/`, 'file:///etc/passwd', `http://127.0.0.2:${String(port)}/`];
    const answer = await page.evaluate(
      (urls) =>
        new Promise((resolve) => {
          addEventListener('message', ({ data }: MessageEvent<{ answer?: unknown }>) => {
            if (data.answer !== undefined) resolve(data.answer);
          });
          postMessage({ ask: urls });
        }),
      ask,
    );
    const [own, file, guarded] = (answer as { texts: string[] }).texts;
    expect(own).toContain('page');
    expect(file).toBe('refused');
    expect(guarded).not.toBe('inside');
    expect(answer).toMatchObject({ proxy: 'undefined', debugger: 'undefined' });
    await browser.close();
    await service.kernel.browsers.deleteByID(id);
    inside.close();
  });

  it('from the store is loaded when the session starts', async () => {
    service.extensions.set('ext_marks', Buffer.from(await (await extension()).arrayBuffer()));
    const { id, browser, page } = await open(headless, [{ id: 'ext_marks' }]);
    await page.goto(`${site.origin}/`);
    await eventually(async () => expect(await page.title()).toBe('marked page'));
    await browser.close();
    await service.kernel.browsers.deleteByID(id);
  });
});

describe('a session with stored extensions', () => {
  it.for([
    [[{ id: 'ext_none' }], /^400 extensions\[0\]: not found/],
    [[{ name: 'ext_marks' }, {}], /^400 extensions\[1\]: /],
    [[{ id: 'ext_marks' }, { name: 'ext_marks' }], /^400 extensions\[1\]: /],
    [[{ id: 'ext_marks' }, { id: 'ext_bad' }], /^400 .*ext_bad.*privacy/],
  ] as const)('does not start with %j', async ([extensions, message]) => {
    service.extensions.set('ext_marks', Buffer.from(await (await extension()).arrayBuffer()));
    const bad = await extension({ permissions: ['privacy'] });
    service.extensions.set('ext_bad', Buffer.from(await bad.arrayBuffer()));
    const started = service.kernel.browsers.create({ headless: true, extensions: [...extensions] });
    await expect(started).rejects.toThrow(message);
    expect(await service.kernel.browsers.list()).toMatchObject({ items: [] });
  });
});

describe('extensions', () => {
  it('are rejected if they are invalid or would escape the session', async () => {
    const { id, browser, page, load } = await open();
    const refused: [object, string][] = [
      [{ permissions: ['proxy'] }, 'proxy'],
      [{ optional_permissions: ['debugger'] }, 'debugger'],
      [{ permissions: ['nativeMessaging'] }, 'nativeMessaging'],
      [{ permissions: ['privacy'] }, 'privacy'],
      [{ host_permissions: ['file:///*'] }, 'file:'],
      [{ content_scripts: [{ matches: ['file:///*'], js: ['mark.js'] }] }, 'file:'],
      [{ app: { background: { scripts: ['a.js'] } } }, 'app'],
      [{ manifest_version: 2 }, 'manifest_version'],
      [{ version: 'x' }, 'marks'],
    ];
    for (const [changes, word] of refused) {
      await expect(load('marks', await extension(changes)), word).rejects.toMatchObject({
        status: 400,
        message: containing(word),
      });
    }
    await expect(load('marks', await zip({ 'a/manifest.json': '{}' }))).rejects.toMatchObject({ status: 400 });
    await expect(load('marks', await zip({ 'manifest.json': '{' }))).rejects.toMatchObject({ status: 400 });
    await expect(load('marks', await toFile(Buffer.from('no archive'), 'a.zip'))).rejects.toMatchObject({
      status: 400,
    });
    for (const name of ['../up', '/abs', '_own', '', 'a/b']) {
      await expect(load(name, await extension()), name).rejects.toMatchObject({
        status: 400,
        message: containing('name'),
      });
    }
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`f${String(index)}`, '']));
    await expect(load('marks', await extension({}, many))).rejects.toMatchObject({ status: 413 });
    // Of all that nothing is left, and the name is free.
    const [folder] = await sessionFolders(id);
    expect(await readdir(path.join(folder ?? '', 'Unpacked'))).toEqual([]);
    await page.goto(`${site.origin}/`);
    expect(await page.title()).toBe('page');

    // The second is refused by the browser: the first goes again.
    const body = {
      extensions: [
        { name: 'one', zip_file: await extension() },
        { name: 'two', zip_file: await extension({ version: 'x' }) },
      ],
    };
    await expect(service.kernel.browsers.loadExtensions(id, body)).rejects.toMatchObject({
      status: 400,
      message: containing('two'),
    });
    await page.goto(`${site.origin}/`);
    expect(await page.title()).toBe('page');
    await load('one', await extension());
    await expect(load('one', await extension())).rejects.toMatchObject({ status: 409 });
    const url = `${service.handle.url}/browsers/${id}/extensions`;
    const plain = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${API_KEY}` } });
    expect(plain.status).toBe(415);
    await browser.close();
    await service.kernel.browsers.deleteByID(id);
  });
});

function server(inside: http.Server, listening: () => void): void {
  inside.listen(0, '127.0.0.2', listening);
}

/** Folders of a session's browser on this machine. */
async function sessionFolders(id: string): Promise<string[]> {
  const folder = path.join(service.workDir, 'sessions');
  const names = (await readdir(folder)).filter((name) => name.startsWith(id));
  return names.map((name) => path.join(folder, name));
}
