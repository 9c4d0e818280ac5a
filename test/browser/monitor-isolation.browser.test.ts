import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { afterAll, describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { pageScript } from '../../browser/telemetry/monitor/attach.ts';
import { connectRaw } from './raw-client.ts';
import type { RawClient } from './raw-client.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let site: Site;
const on = { enabled: true };
const everything = { console: on, network: on, page: on, interaction: on, screenshot: on };
/** Counts reads of a logged error's stack: only an enabled `Runtime` domain reads it. */
const FOLLOWED = `(() => {
  let read = 0;
  const bait = new Error();
  Object.defineProperty(bait, 'stack', { get: () => { read += 1; return ''; } });
  console.debug(bait);
  return read;
})()`;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({
    // With an icon, so that no request for a missing one interferes with the comparison.
    '/': '<title>Home</title><link rel=icon href="data:,"><button id=go>go</button><iframe src="/inner"></iframe><script>console.log(1)</script>',
    '/inner': 'inner',
  });
});
afterAll(() => {
  site.close();
});

/** Opens the site with all CDP domains enabled, and returns the client's session on the page. */
async function visit(client: RawClient): Promise<string> {
  await client.call('Target.setDiscoverTargets', { discover: true });
  await client.call('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
  const page = await eventually(() => {
    const found = client.received.find(
      ({ method, params }) =>
        method === 'Target.attachedToTarget' &&
        (params?.['targetInfo'] as { type: string } | undefined)?.type === 'page',
    );
    expect(found).toBeDefined();
    return String(found?.params?.['sessionId']);
  });
  for (const domain of ['Page', 'Runtime', 'Network', 'DOM', 'Log']) await client.call(`${domain}.enable`, {}, page);
  await client.call('Page.navigate', { url: `${site.origin}/` }, page);
  await eventually(() => {
    expect(client.received.map(({ method }) => method)).toContain('Page.loadEventFired');
  });
  await client.call(
    'Input.dispatchMouseEvent',
    { type: 'mousePressed', x: 20, y: 20, button: 'left', clickCount: 1 },
    page,
  );
  await client.call(
    'Input.dispatchMouseEvent',
    { type: 'mouseReleased', x: 20, y: 20, button: 'left', clickCount: 1 },
    page,
  );
  return page;
}

/** The types of received events, without those that are nondeterministic. */
function kindsOf({ received }: RawClient): string[] {
  const kinds = received.flatMap(({ method }) => (method === undefined ? [] : [method]));
  return [...new Set(kinds)].filter((kind) => !/^Target.targetInfoChanged|^Network|^DOM/.test(kind)).toSorted();
}

const worldsOf = ({ received }: RawClient): number =>
  received.filter(({ method }) => method === 'Runtime.executionContextCreated').length;

describe('the telemetry monitor', () => {
  it('exposes no additional events, worlds or sessions to clients', async () => {
    const quiet = await service.kernel.browsers.create();
    const without = await connectRaw(quiet.cdp_ws_url);
    await visit(without);
    const { session_id: id, cdp_ws_url: url } = await service.kernel.browsers.create({
      telemetry: { browser: everything },
    });
    const client = await connectRaw(url);
    await visit(client);
    await eventually(async () => {
      const clicks = await service.kernel.browsers.telemetry.events(id, { category: ['interaction'] });
      expect(clicks.getPaginatedItems()).toHaveLength(1);
    });
    expect(JSON.stringify(client.received)).not.toMatch(/holdfast/i);
    const known = client.received.flatMap(({ method, params }) =>
      method === 'Target.attachedToTarget' ? [String(params?.['sessionId'])] : [],
    );
    for (const { sessionId } of client.received) if (sessionId !== undefined) expect(known).toContain(sessionId);
    expect(kindsOf(client)).toEqual(kindsOf(without));
    expect(worldsOf(client)).toBe(worldsOf(without));
    await Promise.all([client.close(), without.close()]);
    await service.kernel.browsers.deleteByID(id);
    await service.kernel.browsers.deleteByID(quiet.session_id);
  });

  it('leaves no trace in a page, and follows its console only if selected', async () => {
    const { session_id: id, cdp_ws_url: url } = await service.kernel.browsers.create({
      stealth: true,
      telemetry: { browser: { network: on, page: on, interaction: on, screenshot: on } },
    });
    const client = await connectRaw(url);
    const { result: targets } = await client.call('Target.getTargets');
    const page = (targets?.['targetInfos'] as { type: string; targetId: string }[] | undefined)?.find(
      ({ type }) => type === 'page',
    );
    const { result: attached } = await client.call('Target.attachToTarget', {
      targetId: page?.targetId,
      flatten: true,
    });
    const session = String(attached?.['sessionId']);
    await client.call('Page.navigate', { url: `${site.origin}/` }, session);
    const evaluate = async (expression: string): Promise<unknown> => {
      const { result } = await client.call('Runtime.evaluate', { expression, returnByValue: true }, session);
      return (result?.['result'] as { value?: unknown } | undefined)?.value;
    };
    await eventually(async () => {
      expect(await evaluate('document.title')).toBe('Home');
    });
    expect(await evaluate('navigator.webdriver')).toBe(false);
    expect(
      await evaluate('Object.getOwnPropertyNames(globalThis).filter((name) => /holdfast/i.test(name)).length'),
    ).toBe(0);
    expect(await evaluate(FOLLOWED)).toBe(0);
    await client.call('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Tab' }, session);
    await eventually(async () => {
      const keys = await service.kernel.browsers.telemetry.events(id, { category: ['interaction'] });
      expect(keys.getPaginatedItems()).toMatchObject([{ event: { data: { key: 'Tab' } } }]);
    });
    await client.close();
    await service.kernel.browsers.deleteByID(id);
  });

  it('reports a key once, even if a document runs the script twice', async () => {
    const session = await service.kernel.browsers.create();
    const browser = await chromium.connectOverCDP(session.cdp_ws_url, { noDefaults: true });
    const page = browser.contexts()[0]?.pages()[0];
    await page?.goto(`${site.origin}/`);
    const script = pageScript('reportHere', { interaction: true, captcha: false, typed: true }) ?? '';
    await page?.evaluate(
      'globalThis.reports = []; globalThis.reportHere = (report) => reports.push(JSON.parse(report).kind);',
    );
    for (const turn of [1, 2]) await page?.evaluate(`${script}; ${String(turn)}`);
    await page?.keyboard.press('Tab');
    expect(await page?.evaluate('reports')).toEqual(['key']);
    await browser.close();
    await service.kernel.browsers.deleteByID(session.session_id);
  });

  it('does not interfere with Playwright, Puppeteer and BiDi clients', { timeout: 120_000 }, async () => {
    const session = await service.kernel.browsers.create({ telemetry: { browser: everything } });
    const first = await chromium.connectOverCDP(session.cdp_ws_url);
    const page = first.contexts()[0]?.pages()[0];
    await page?.goto(`${site.origin}/`);
    await page?.click('#go');
    expect(await page?.frameLocator('iframe').locator('body').innerText()).toBe('inner');

    const second = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
    const [tab] = await second.pages();
    expect(await tab?.title()).toBe('Home');
    await tab?.reload();
    await tab?.click('#go');

    const socket = new WebSocket(session.webdriver_ws_url);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const answers = new Map<number, (answer: { result?: { realms?: object[] } }) => void>();
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString('utf8')) as { id?: number; result?: { realms?: object[] } };
      answers.get(message.id ?? 0)?.(message);
    });
    const ask = (id: number, method: string, params: object): Promise<{ result?: { realms?: object[] } }> =>
      new Promise((resolve) => {
        answers.set(id, resolve);
        socket.send(JSON.stringify({ id, method, params }));
      });
    await ask(1, 'session.new', { capabilities: {} });
    let id = 1;
    await eventually(async () => {
      const { realms = [] } = (await ask((id += 1), 'script.getRealms', {})).result ?? {};
      expect(realms.length).toBeGreaterThanOrEqual(2);
      expect(JSON.stringify(realms)).not.toMatch(/holdfast/i);
    });
    socket.close();
    await second.disconnect();
    await first.close();
    await service.kernel.browsers.deleteByID(session.session_id);
  });
});
