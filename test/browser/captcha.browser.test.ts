import { chromium } from 'playwright-core';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect } from 'vitest';
import { TelemetryEnvelope } from '../../contract/telemetry-events.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let site: Site;

/** Widgets as vendors embed them: their frames, and a field for the answer. */
const WIDGETS = {
  recaptcha_v2: `<div class=g-recaptcha><div><iframe src="https://www.google.com/recaptcha/api2/anchor?k=1&size=normal"></iframe></div>
    <textarea name=g-recaptcha-response style="display:none"></textarea></div>
    <div style="visibility:hidden"><iframe src="https://www.google.com/recaptcha/api2/bframe?k=1"></iframe></div>`,
  hcaptcha: `<div class=h-captcha><iframe src="https://newassets.hcaptcha.com/captcha/v1/4f/static/hcaptcha.html#frame=checkbox&id=0"></iframe>
    <textarea name=h-captcha-response style="display:none"></textarea></div>
    <div style="visibility:hidden"><iframe src="https://newassets.hcaptcha.com/captcha/v1/4f/static/hcaptcha.html#frame=challenge&id=0"></iframe></div>`,
  turnstile: `<div class=cf-turnstile><div style="width:300px;height:65px" id=host></div>
    <input type=hidden name=cf-turnstile-response></div>`,
  geetest: `<div class=geetest_holder style="width:300px;height:44px"></div><input type=hidden name=geetest_validate>`,
} as const;
const SCORED = `<div class=grecaptcha-badge style="width:256px;height:60px">
  <iframe src="https://www.google.com/recaptcha/api2/anchor?k=1&size=invisible"></iframe>
  <textarea name=g-recaptcha-response style="display:none"></textarea></div>`;
const UNSOLVED = {
  press_and_hold: '<div id=px-captcha style="width:300px;height:100px"></div>',
  other: '<iframe src="https://client-api.arkoselabs.com/fc/gc/?token=1"></iframe>',
} as const;
const UNSEEN = `<div class=grecaptcha-badge><iframe src="https://www.google.com/recaptcha/api2/anchor?k=1&size=invisible"></iframe>
  <textarea name=g-recaptcha-response style="display:none"></textarea></div>
  <div style="visibility:hidden"><iframe src="https://www.google.com/recaptcha/api2/bframe?k=1"></iframe></div>`;

/** How vendors' frames show a wrong answer when told to, as `check` does. */
const REFUSALS = `<div class=rc-imageselect-incorrect-response hidden>Please try again.</div><div class=error-text hidden>Please try again.</div>
  <script>onmessage = () => { for (const part of document.querySelectorAll('div')) part.hidden = false; };</script>`;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({
    // Changes by the page's own timers; the watch polls in between.
    '/guarded': `<title>Guarded</title><body><script>
      const wait = () => new Promise((resolve) => setTimeout(resolve, 700));
      const mount = (html) => {
        const part = document.createElement('section');
        part.innerHTML = html;
        document.body.append(part);
        part.querySelector('#host')?.attachShadow({ mode: 'closed' }).append(document.createElement('iframe'));
        return part;
      };
      const visit = async (html, answer) => {
        const part = mount(html);
        await wait();
        if (answer) for (const field of part.querySelectorAll('[name$=response], [name=geetest_validate]')) field.value = answer;
        await wait();
        part.remove();
        await wait();
      };
    </script>`,
    '/next': 'next',
  });
});
afterAll(() => {
  site.close();
});

async function open(telemetry: object): Promise<{ id: string; page: Page; close: () => Promise<void> }> {
  const session = await service.kernel.browsers.create({ telemetry });
  const browser = await chromium.connectOverCDP(session.cdp_ws_url);
  const context = browser.contexts()[0];
  const page = context?.pages()[0];
  if (context === undefined || page === undefined) throw new Error('no page');
  await context.route(/google\.com|hcaptcha\.com|arkoselabs\.com/, (route) =>
    route.fulfill({ contentType: 'text/html', body: `I am not a robot${REFUSALS}` }),
  );
  await page.goto(`${site.origin}/guarded?case=47zq11`);
  return {
    id: session.session_id,
    page,
    close: async () => {
      await browser.close();
      await service.kernel.browsers.deleteByID(session.session_id);
    },
  };
}

async function challengeResults(id: string): Promise<Record<string, unknown>[]> {
  const page = await service.kernel.browsers.telemetry.events(id, { category: ['captcha'], limit: 100 });
  return page.getPaginatedItems().map((event) => TelemetryEnvelope.parse(event).event.data as Record<string, unknown>);
}

const visit = (page: Page, html: string, answer?: string): Promise<unknown> =>
  page.evaluate(`visit(${JSON.stringify(html)}, ${JSON.stringify(answer ?? '')})`);

describe('a captcha challenge', () => {
  it('is reported with its vendor when it is solved or gone, without its answer', { timeout: 120_000 }, async () => {
    const { id, page, close } = await open({ enabled: true });
    for (const html of Object.values(WIDGETS)) await visit(page, html, 'tok-47zq11');
    for (const html of Object.values(UNSOLVED)) await visit(page, html);
    await visit(page, UNSEEN, 'tok-47zq11');
    await eventually(async () => {
      const results = await challengeResults(id);
      expect(results.map(({ captcha_type: type, status }) => [type, status])).toEqual([
        ...Object.keys(WIDGETS).map((type) => [type, 'solved']),
        ...Object.keys(UNSOLVED).map((type) => [type, 'abandoned']),
      ]);
      for (const data of results) {
        expect(data).toMatchObject({ website_host: new URL(site.origin).host, website_path: '/guarded' });
        expect(data['duration_ms']).toBeGreaterThan(0);
      }
      expect(new Set(results.map(({ challenge_id: challenge }) => challenge)).size).toBe(results.length);
      expect(JSON.stringify(results)).not.toContain('47zq11');
    });
    await close();
  });

  it('fails when its vendor says so, and is a new challenge from then on', async () => {
    const { id, page, close } = await open({ enabled: true });
    for (const [type, failed] of [
      ['recaptcha_v2', 'frames[0].postMessage("", "*")'],
      ['hcaptcha', 'frames[0].postMessage("", "*")'],
      ['geetest', 'part.firstChild.innerHTML = "<div class=geetest_fail>Try again</div>"'],
    ] as const) {
      const before = (await challengeResults(id)).length;
      await page.evaluate(`globalThis.part = mount(${JSON.stringify(WIDGETS[type])})`);
      await page.evaluate('wait().then(wait)');
      await page.evaluate(failed);
      await eventually(async () => {
        expect((await challengeResults(id)).slice(before)).toMatchObject([{ captcha_type: type, status: 'failure' }]);
      });
      await page.evaluate('for (const field of part.querySelectorAll("[name]")) field.value = "tok-47zq11"');
      await eventually(async () => {
        const [first, second, ...others] = (await challengeResults(id)).slice(before);
        expect(second).toMatchObject({ captcha_type: type, status: 'solved' });
        expect(second?.['challenge_id']).not.toBe(first?.['challenge_id']);
        expect(others).toEqual([]);
      });
      await page.evaluate('part.remove()');
    }
    await close();
  });

  it('is detected when it is scored without being shown', async () => {
    const { id, page, close } = await open({ enabled: true });
    await page.evaluate(`document.head.append(Object.assign(document.createElement('script'), {
      src: 'https://www.google.com/recaptcha/api.js?render=site-key', type: 'text/plain' }))`);
    await visit(page, SCORED, 'tok-47zq11');
    await visit(page, SCORED);
    await eventually(async () => {
      expect((await challengeResults(id)).map(({ captcha_type: type, status }) => [type, status])).toEqual([
        ['recaptcha_v3', 'solved'],
        ['recaptcha_v3', 'abandoned'],
      ]);
    });
    await close();
  });

  it('is abandoned when an answer cannot be attributed to it, and when its page closes', async () => {
    const { id, page, close } = await open({ enabled: true });
    await page.evaluate(`mount(${JSON.stringify(WIDGETS.hcaptcha)})`);
    await visit(page, WIDGETS.hcaptcha, 'tok-47zq11');
    await eventually(async () => {
      expect((await challengeResults(id)).map(({ status }) => status)).toEqual(['abandoned']);
    });
    await page.goto(`${site.origin}/next`);
    await eventually(async () => {
      expect((await challengeResults(id)).map(({ status }) => status)).toEqual(['abandoned', 'abandoned']);
    });
    await close();
  });

  it('is not detected when captchas are not selected', async () => {
    const { id, page, close } = await open({ browser: { captcha: { enabled: false }, page: { enabled: true } } });
    await visit(page, WIDGETS.recaptcha_v2, 'tok-47zq11');
    expect(await challengeResults(id)).toEqual([]);
    await close();
  });
});
