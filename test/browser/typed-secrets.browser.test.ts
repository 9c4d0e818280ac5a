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
const on = { enabled: true };
const everything = { console: on, network: on, page: on, interaction: on, screenshot: on, platform: on } as object;
/** Typed into every field; a number field takes its digits. */
const SECRET = 'zq-wörd 90817263';
const SEARCHED = /zq-|wörd|w%C3%B6rd|w\\u00f6rd|90817263/i;
const FIELDS = ['text', 'password', 'email', 'tel', 'search', 'url', 'number']
  .map((type) => `<input id=${type} name=${type} type=${type}>`)
  .concat('<textarea id=area name=area></textarea>', '<div id=editable contenteditable>&nbsp;</div>')
  .join('');

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({
    '/form': `<title>Form</title><form action="/done" novalidate>${FIELDS}<button id=get>get</button>
      <button id=post formmethod=post formaction="/done">post</button></form>
      <script>addEventListener('input', ({ target }) => {
        const value = target.value ?? target.textContent;
        console.log('typed', value, { value }); console.error(value);
        document.title = value; document.cookie = 'last=' + encodeURIComponent(value);
        history.replaceState(null, '', '?last=' + encodeURIComponent(value) + '#' + encodeURIComponent(value));
        setTimeout(() => { throw new Error(value); }, 0);
        fetch('/echo?q=' + encodeURIComponent(value), { method: 'POST', body: value,
          headers: { authorization: encodeURIComponent(value), 'x-own': encodeURIComponent(value) } });
      });</script>`,
    '/echo': (request, response) => {
      response.writeHead(200, {
        'content-type': 'text/plain',
        'x-echo': request.url ?? '',
        'set-cookie': 'sid=90817263',
      });
      request.pipe(response);
    },
    '/done': 'done',
    '/code': `<title>Code</title><input id=word type=password><input id=otp autocomplete=one-time-code><input id=cvc>
      <input id=name><button id=show onclick="word.type = 'text'">show</button>`,
  });
});
afterAll(() => {
  site.close();
});

async function openPage(url: string): Promise<Page> {
  const browser = await chromium.connectOverCDP(url);
  const page = browser.contexts()[0]?.pages()[0];
  if (page === undefined) throw new Error('no page');
  return page;
}

async function eventsOf(id: string): Promise<TelemetryEnvelope['event'][]> {
  const all: TelemetryEnvelope['event'][] = [];
  const page = await service.kernel.browsers.telemetry.events(id, { limit: 100, since: '1h' });
  for await (const event of page) all.push(TelemetryEnvelope.parse(event).event);
  return all;
}

describe('typed text', () => {
  it(
    'is in no event of a login session, whatever the field and whatever its page does with it',
    { timeout: 120_000 },
    async () => {
      const { session_id: id, cdp_ws_url: url } = await service.kernel.browsers.create(
        { telemetry: { enabled: true, browser: everything } },
        { headers: { [MANAGED_AUTH_HEADER]: 'true' } },
      );
      const page = await openPage(url);
      await page.goto(`${site.origin}/form`);
      for (const field of await page.locator('[id]:not(button)').all()) {
        await field.click();
        await field.pressSequentially(SECRET);
        await page.keyboard.insertText('90817263');
      }
      await page.locator('#area').click();
      await service.kernel.browsers.computer.typeText(id, { text: SECRET });
      await page.locator('#editable').click();
      await page.locator('#post').click();
      await page.goto(`${site.origin}/form`);
      await page.locator('#text').fill(SECRET);
      await page.locator('#get').click();
      await page.waitForURL(/done/);
      await eventually(async () => {
        const events = await eventsOf(id);
        const types = new Set(events.map(({ type }) => type));
        for (const type of [
          'interaction_key',
          'interaction_click',
          'console_log',
          'console_error',
          'cdp_command',
          'api_call',
        ]) {
          expect(types).toContain(type);
        }
        const done = events.filter(
          ({ type, data }) => type === 'network_response' && JSON.stringify(data).includes('/done'),
        );
        expect(done.length).toBeGreaterThan(0);
        expect(types).not.toContain('monitor_screenshot');
        expect(JSON.stringify(events)).not.toMatch(SEARCHED);
        for (const { data } of events) expect(data).not.toHaveProperty('key');
      });
      await page.context().browser()?.close();
      await service.kernel.browsers.deleteByID(id);
    },
  );

  it('is captured without key names in a field for secrets, hidden or revealed', async () => {
    const { session_id: id, cdp_ws_url: url } = await service.kernel.browsers.create({
      telemetry: { browser: { interaction: on } },
    });
    const page = await openPage(url);
    await page.goto(`${site.origin}/code`);
    for (const field of ['#word', '#otp', '#cvc']) await page.locator(field).pressSequentially('7é');
    await page.click('#show');
    await page.locator('#word').pressSequentially('7');
    await page.press('#word', 'Enter');
    await page.locator('#name').pressSequentially('a');
    await eventually(async () => {
      const keys = (await eventsOf(id)).filter(({ type }) => type === 'interaction_key');
      const named = keys.map(({ data }) => data as { selector: string; key?: string });
      expect(named.flatMap(({ selector, key }) => (key === undefined ? [] : [[selector, key]]))).toEqual([
        ['#word', 'Enter'],
        ['#name', 'a'],
      ]);
      expect(new Set(named.map(({ selector }) => selector))).toEqual(new Set(['#word', '#otp', '#cvc', '#name']));
    });
    await page.context().browser()?.close();
    await service.kernel.browsers.deleteByID(id);
  });
});
