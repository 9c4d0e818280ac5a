import { toFile } from '@onkernel/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { MANAGED_AUTH_HEADER } from '../../contract/browsers.ts';
import { PUBLIC_ONLY } from '../../egress/policy.ts';
import { connectRaw, type RawClient } from './raw-client.ts';
import { containing, eventually, startService, type ServiceUnderTest } from './service-under-test.ts';

/** Clients that drive a session through their own extension, like Stagehand 4. */
let service: ServiceUnderTest;
beforeAll(async () => {
  // Browsers may not reach the address the service listens on.
  service = await startService({ policy: PUBLIC_ONLY });
});
afterAll(() => service.stop());

const MANIFEST = {
  manifest_version: 3,
  name: 'Driver',
  version: '1.2',
  permissions: ['debugger', 'tabs'],
  host_permissions: ['<all_urls>'],
  background: { service_worker: 'worker.js' },
};

async function extension(changes: object = {}) {
  const archive = new ZipFile();
  archive.addBuffer(Buffer.from(JSON.stringify({ ...MANIFEST, ...changes })), 'manifest.json');
  archive.addBuffer(Buffer.from('self.started = true;'), 'worker.js');
  archive.addBuffer(Buffer.from('<title>of the driver</title>'), 'page.html');
  archive.end();
  const pieces: Buffer[] = [];
  for await (const piece of archive.outputStream) pieces.push(Buffer.from(piece as Buffer));
  return toFile(Buffer.concat(pieces), 'extension.zip');
}

interface Driver {
  id: string;
  url: string;
  client: RawClient;
  extensionId: string;
  /** Evaluates an expression in the extension's worker; returns its awaited value, or the error. */
  run: (expression: string) => Promise<unknown>;
}

/** A session with the extension, and a client attached to the extension's worker. */
async function openDriver(): Promise<Driver> {
  const { kernel } = service;
  const { session_id: id, cdp_ws_url: url } = await kernel.browsers.create({ headless: true, timeout_seconds: 300 });
  await kernel.browsers.loadExtensions(id, { extensions: [{ name: 'driver', zip_file: await extension() }] });
  const client = await connectRaw(url);
  const listed = await client.call('Extensions.getExtensions');
  const [only] = (listed.result?.['extensions'] ?? []) as { id: string }[];
  const extensionId = only?.id ?? '';
  const targetId = await eventually(async () => {
    const { result } = await client.call('Target.getTargets');
    const targets = result?.['targetInfos'] as { targetId: string; type: string; url: string }[];
    const worker = targets.find((target) => target.type === 'service_worker' && target.url.includes(extensionId));
    if (worker === undefined) throw new Error('no worker yet');
    return worker.targetId;
  });
  const attached = await client.call('Target.attachToTarget', { targetId, flatten: true });
  const sessionId = String(attached.result?.['sessionId']);
  const evaluate = async (expression: string, awaitPromise: boolean): Promise<unknown> => {
    const params = { expression, awaitPromise, returnByValue: true };
    const answer = await client.call('Runtime.evaluate', params, sessionId);
    return (answer.result?.['result'] as { value?: unknown } | undefined)?.value;
  };
  const run = (expression: string): Promise<unknown> =>
    evaluate(`(async () => ${expression})().catch((error) => error.message)`, true);
  // A worker that has not started yet does not resolve promises.
  const isStarted = 'self.started === true && typeof chrome.debugger';
  await eventually(async () => expect(await evaluate(isStarted, false)).toBe('object'));
  return { id, url, client, extensionId, run };
}

async function end({ id, client }: Driver): Promise<void> {
  await client.close();
  await service.kernel.browsers.deleteByID(id);
}

describe('an extension with the `debugger` permission', () => {
  it('can list the targets of its tabs, but nothing else', async () => {
    const driver = await openDriver();
    const { client, run } = driver;
    await client.call('Target.createTarget', { url: 'data:text/html,<title>second</title>' });
    const active = `(async () => {
      const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
      const targets = await chrome.debugger.getTargets();
      return targets.find(({ tabId }) => tabId === tab.id).url;
    })()`;
    await eventually(async () => expect(await run(active)).toContain('second'));
    expect(await run('(await chrome.debugger.getTargets()).length')).toBe(2);
    expect(await run('chrome.debugger.attach({})')).toContain('cdp_ws_url');
    expect(await run('chrome.debugger.sendCommand({}, "Page.enable")')).toContain('cdp_ws_url');
    expect(await run('chrome.runtime.getManifest().permissions.join()')).toBe('tabs');
    // An extension page does not have the permission at all.
    expect(await run('(await chrome.permissions.getAll()).permissions.includes("debugger")')).toBe(false);
    await end(driver);
  });

  it('cannot request it later', async () => {
    const { session_id: id } = await service.kernel.browsers.create({ headless: true });
    const sent = { name: 'driver', zip_file: await extension({ permissions: [], optional_permissions: ['debugger'] }) };
    const loading = service.kernel.browsers.loadExtensions(id, { extensions: [sent] });
    await expect(loading).rejects.toMatchObject({ status: 400, message: containing('debugger') });
    await service.kernel.browsers.deleteByID(id);
  });

  it('is not allowed in the session of a login', async () => {
    const headers = { [MANAGED_AUTH_HEADER]: 'true' };
    const { session_id: id } = await service.kernel.browsers.create({ headless: true }, { headers });
    const sent = { name: 'driver', zip_file: await extension() };
    const loading = service.kernel.browsers.loadExtensions(id, { extensions: [sent] });
    await expect(loading).rejects.toMatchObject({ status: 400, message: containing('login') });
    await service.kernel.browsers.deleteByID(id);
  });
});

describe('a CDP client', () => {
  it('sees the session’s extensions without their paths, and can open their pages only', async () => {
    const driver = await openDriver();
    const { client, extensionId } = driver;
    const { result } = await client.call('Extensions.getExtensions');
    expect(result).toEqual({
      extensions: [{ id: extensionId, name: 'Driver', version: '1.2', path: 'driver', enabled: true }],
    });
    const refused = await client.call('Extensions.loadUnpacked', { path: '/etc' });
    expect(refused.error?.message).toContain('POST /browsers/{id}/extensions');

    const opened = await client.call('Target.createTarget', { url: `chrome-extension://${extensionId}/page.html` });
    const { targetId } = opened.result as { targetId: string };
    await eventually(async () => {
      const { result: told } = await client.call('Target.getTargetInfo', { targetId });
      expect(told?.['targetInfo']).toMatchObject({ title: 'of the driver' });
    });
    const viewer = 'chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/index.html';
    expect((await client.call('Target.createTarget', { url: viewer })).error?.message).toContain('refused');
    await end(driver);
  });
});

describe('from inside its browser', () => {
  /** What a websocket at that address says to `Browser.getVersion`, or that it was not opened. */
  const versionBy = (url: string): string => `new Promise((resolve) => {
    const socket = new WebSocket(${JSON.stringify(url)});
    socket.onopen = () => socket.send('{"id":1,"method":"Browser.getVersion"}');
    socket.onmessage = ({ data }) => resolve(JSON.parse(data).result.product);
    socket.onerror = () => resolve('closed');
  })`;

  it('a client reaches its own session only, guarded like any other', async () => {
    const driver = await openDriver();
    const other = await service.kernel.browsers.create({ headless: true });
    const { run, url, id } = driver;
    expect(await run(versionBy(url))).toContain('Chrome');
    expect(await run(versionBy(url.replace(/jwt=.*/, 'jwt=none')))).toBe('closed');
    expect(await run(versionBy(other.cdp_ws_url))).toBe('closed');
    const http = url.replace(/^ws/, 'http').replace(/\/browsers.*/, '/status');
    const status = `fetch(${JSON.stringify(http)}).then((answer) => answer.status)`;
    expect(await run(status)).toBe(403);
    const judged = `new Promise((resolve) => {
      const socket = new WebSocket(${JSON.stringify(url)});
      socket.onopen = () => socket.send('{"id":1,"method":"Browser.crash"}');
      socket.onmessage = ({ data }) => resolve(JSON.parse(data).error.message);
    })`;
    expect(await run(judged)).toContain('refused');
    expect(id).not.toBe(other.session_id);
    await service.kernel.browsers.deleteByID(other.session_id);
    await end(driver);
  });
});
