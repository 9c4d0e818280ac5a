import { chromium } from 'playwright-core';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect } from 'vitest';
import { MANAGED_AUTH_HEADER } from '../../contract/browsers.ts';
import { TelemetryEnvelope } from '../../contract/telemetry-events.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let site: Site;
const SECRET = 'pa55wörd-47zq11';

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({
    '/': `<title>Home</title><h1 id=top>Home</h1><button id=go>Press here</button><input id=name><input id=word type=password>
      <div style="height:5000px"></div><a id=next href="/next">next</a>
      <script>console.log('hello', 7, { a: 1 }); console.error('bad ${SECRET}');
        setTimeout(() => { throw new Error('boom ${SECRET}'); }, 0);
        fetch('/api?q=${SECRET}', { method: 'POST', body: 'word=${SECRET}', headers: { authorization: '${encodeURIComponent(SECRET)}', 'x-token': '47zq11' } });
        fetch('/moved'); fetch('http://localhost:1/').catch(() => 0);</script>`,
    '/api': (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'sid=47zq11' });
      response.end(JSON.stringify({ said: SECRET, much: 'x'.repeat(20_000) }));
    },
    '/moved': (_, response) => {
      response.writeHead(302, { location: '/end' });
      response.end();
    },
    '/end': 'the end',
    '/next': '<title>Next</title><h1>Next</h1>',
  });
});
afterAll(() => {
  site.close();
});

async function eventsOf(
  id: string,
  category: 'console' | 'network' | 'page' | 'interaction' | 'screenshot' | 'monitor',
): Promise<TelemetryEnvelope['event'][]> {
  const all: TelemetryEnvelope['event'][] = [];
  const page = await service.kernel.browsers.telemetry.events(id, { limit: 100, category: [category] });
  for await (const event of page) all.push(TelemetryEnvelope.parse(event).event);
  return all;
}
const ofType = (events: TelemetryEnvelope['event'][], type: string): Record<string, unknown>[] =>
  events.filter((event) => event.type === type).map(({ data }) => data as Record<string, unknown>);

const on = { enabled: true };
const everything = { console: on, network: on, page: on, interaction: on, screenshot: on };

async function drive(url: string): Promise<Page> {
  const browser = await chromium.connectOverCDP(url);
  const page = browser.contexts()[0]?.pages()[0];
  if (page === undefined) throw new Error('no page');
  await page.goto(`${site.origin}/`);
  return page;
}

describe('browser events', () => {
  it('are captured by selected category', async () => {
    const { session_id: id, cdp_ws_url: url } = await service.kernel.browsers.create({
      viewport: { width: 800, height: 600 },
      telemetry: { browser: everything },
    });
    const page = await drive(url);
    await page.click('#go');
    await page.fill('#name', 'ann');
    await page.press('#name', 'a');
    await page.press('#name', 'Enter');
    await page.press('#word', 's');
    await page.mouse.wheel(0, 700);

    await eventually(async () => {
      const events = await eventsOf(id, 'interaction');
      expect(ofType(events, 'interaction_click')).toMatchObject([
        { selector: '#go', tag: 'BUTTON', text: 'Press here' },
      ]);
      const keys = ofType(events, 'interaction_key');
      expect(keys.map(({ key, selector }) => [key, selector])).toEqual([
        ['a', '#name'],
        ['Enter', '#name'],
        [undefined, '#word'],
      ]);
      expect(ofType(events, 'interaction_scroll_settled')).toMatchObject([
        { from_y: 0, to_y: 700, from_x: 0, to_x: 0 },
      ]);
    });

    await eventually(async () => {
      const events = await eventsOf(id, 'console');
      expect(ofType(events, 'console_log')[0]).toMatchObject({
        level: 'log',
        text: 'hello',
        args: ['hello', '7', 'Object'],
      });
      expect(ofType(events, 'console_error').map(({ text }) => text)).toEqual([
        `bad ${SECRET}`,
        `Uncaught Error: boom ${SECRET}`,
      ]);
    });

    await eventually(async () => {
      const events = await eventsOf(id, 'network');
      const requests = ofType(events, 'network_request');
      expect(requests[0]).toMatchObject({ method: 'GET', url: `${site.origin}/`, resource_type: 'Document' });
      expect(requests.find(({ url: address }) => String(address).includes('/api'))).toMatchObject({
        method: 'POST',
        post_data: `word=${SECRET}`,
        resource_type: 'Fetch',
      });
      expect(requests.find(({ url: address }) => String(address).endsWith('/end'))).toMatchObject({
        is_redirect: true,
        redirect_url: `${site.origin}/moved`,
      });
      const responses = ofType(events, 'network_response');
      const answer = responses.find(({ url: address }) => String(address).includes('/api'));
      expect(answer).toMatchObject({ status: 200, method: 'POST', mime_type: 'application/json' });
      expect(String(answer?.['body'])).toContain(SECRET);
      expect(Buffer.byteLength(String(answer?.['body']))).toBeLessThanOrEqual(8192);
      expect(events.find(({ data }) => data === answer)?.truncated).toBe(true);
      expect(responses.find(({ url: address }) => String(address).endsWith('/moved'))).toMatchObject({ status: 302 });
      expect(ofType(events, 'network_loading_failed')).toContainEqual(expect.objectContaining({ canceled: false }));
      expect(ofType(events, 'network_idle').length).toBeGreaterThan(0);
    });

    await page.click('#next');
    await page.context().newPage();
    await eventually(async () => {
      const events = await eventsOf(id, 'page');
      const types = events.map(({ type }) => type);
      expect(new Set(types)).toEqual(
        new Set(
          types.concat([
            'page_navigation',
            'page_dom_content_loaded',
            'page_load',
            'page_layout_settled',
            'page_navigation_settled',
            'page_tab_opened',
          ]),
        ),
      );
      expect(ofType(events, 'page_navigation').map(({ url: address }) => address)).toContain(`${site.origin}/next`);
      const loads = ofType(events, 'page_load').filter(({ url: address }) => String(address).startsWith(site.origin));
      expect(loads.map(({ nav_seq: seq }) => seq)).toEqual([1, 2]);
      expect(ofType(events, 'page_tab_opened')).toHaveLength(1);
      expect(types).toContain('page_lcp');
    });
    await eventually(async () => {
      const [first] = ofType(await eventsOf(id, 'screenshot'), 'monitor_screenshot');
      expect(Buffer.from(String(first?.['png']), 'base64').subarray(1, 4).toString()).toBe('PNG');
    });
    expect(await eventsOf(id, 'monitor')).toEqual([]);

    const doomed = await page.context().newPage();
    await doomed.goto(`${site.origin}/next`);
    const crash = await page.context().newCDPSession(doomed);
    void crash.send('Page.crash').catch(() => undefined);
    await eventually(async () => {
      const [crashed] = ofType(await eventsOf(id, 'page'), 'page_crashed');
      expect(crashed).toMatchObject({ target_type: 'page', url: `${site.origin}/next` });
    });

    await service.kernel.browsers.update(id, { telemetry: { enabled: true } });
    const before = (await eventsOf(id, 'network')).length;
    await page.goto(`${site.origin}/next`);
    expect((await eventsOf(id, 'network')).length).toBe(before);
    await page.context().browser()?.close();
    await service.kernel.browsers.deleteByID(id);
  });

  it('never contain what is typed in a login session, whatever is selected', async () => {
    const {
      session_id: id,
      cdp_ws_url: url,
      telemetry,
    } = await service.kernel.browsers.create(
      { telemetry: { browser: everything } },
      { headers: { [MANAGED_AUTH_HEADER]: 'true' } },
    );
    expect(telemetry?.browser).toMatchObject({ interaction: on, screenshot: { enabled: false } });
    const page = await drive(url);
    await page.click('#go');
    await page.press('#name', '4');
    await page.locator('#name').pressSequentially(SECRET);
    await service.kernel.browsers.computer.typeText(id, { text: SECRET });
    const categories = ['console', 'network', 'page', 'interaction', 'screenshot'] as const;
    await eventually(async () => {
      const events = (await Promise.all(categories.map((category) => eventsOf(id, category)))).flat();
      const types = events.map(({ type }) => type);
      for (const type of [
        'interaction_click',
        'interaction_key',
        'network_response',
        'console_log',
        'console_error',
        'page_load',
      ]) {
        expect(types).toContain(type);
      }
      expect(JSON.stringify(events)).not.toMatch(/pa55w|47zq11|w%C3%B6rd|Press here/);
      for (const { data } of events) {
        for (const name of ['key', 'post_data', 'body', 'args', 'png', 'title']) expect(data).not.toHaveProperty(name);
      }
    });
    await page.context().browser()?.close();
    await service.kernel.browsers.deleteByID(id);
  });
});
