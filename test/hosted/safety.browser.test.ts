import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { password, pause, username } from './pauses.ts';
import type { Change } from './scripted-flow.ts';
import { serve, visit, type Site, type Visitor } from './visit.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

let browser: Browser;
let site: Site;
let visitor: Visitor;
beforeAll(async () => {
  browser = await openViewer();
});
afterAll(() => closeViewer(browser));
beforeEach(async () => {
  site = await serve();
  visitor = await visit(browser);
});
afterEach(async () => {
  await visitor.context.close();
  await site.close();
});

const NASTY = [
  '<script>window.pwned = 1</script>',
  '<img src=x onerror="window.pwned = 1">',
  '"><svg onload=window.pwned=1>',
  "'-alert(1)-'",
  '</style><style>*{display:none}</style>',
  'javascript:window.pwned=1',
  '{domain} {host}',
];

describe("a site's words", () => {
  test.each(NASTY)('%s is text wherever it appears', async (words) => {
    const { page, complaints } = visitor;
    site.flow.go(
      pause(
        [
          { ...username, label: words, hint: words, reason: 'rejected' },
          { ...password, label: words, hint: words, reason: 'rejected' },
        ],
        [
          {
            id: 'c',
            type: 'account',
            label: words,
            description: `${words}.`,
            masked_destination: `${words}!`,
            context: words,
          },
        ],
        { website_error: words, domain: 'shop.example.com' },
      ),
    );
    await page.goto(site.link());
    await page.locator('blockquote').waitFor();
    expect(await page.locator('blockquote').textContent()).toBe(words);
    expect(await page.locator('.label').first().textContent()).toBe(words);
    site.flow.go({ flow_step: 'AWAITING_EXTERNAL_ACTION', external_action_message: words });
    await page.locator('.instruction-text').waitFor();
    expect(await page.locator('.instruction-text').textContent()).toBe(words);
    site.flow.go({ flow_status: 'FAILED', error_code: words, error_message: words, website_error: words });
    await page.getByRole('heading', { name: 'Signing in did not work' }).waitFor();
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    expect(await page.locator('img, iframe, script[src], main script').count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

describe('the content security policy', () => {
  test('contains an injection that our own bug would allow', async () => {
    const { page } = visitor;
    await page.goto(site.link());
    const blocked = await page.evaluate(async (elsewhere) => {
      const violations: string[] = [];
      document.addEventListener('securitypolicyviolation', (event) => violations.push(event.effectiveDirective));
      const script = document.createElement('script');
      let trusted = 'allowed';
      try {
        script.textContent = 'window.pwned = 1';
      } catch {
        trusted = 'refused';
      }
      const image = document.createElement('img');
      image.src = `${elsewhere}/pixel.png`;
      document.body.append(image);
      const style = document.createElement('style');
      style.textContent = 'body{display:none}';
      document.head.append(style);
      await fetch('http://127.0.0.1:9/out').catch(() => undefined);
      // Violations are told a little later, one by one.
      const told = ['img-src', 'style-src-elem', 'connect-src'];
      while (!told.every((directive) => violations.includes(directive))) await new Promise(requestAnimationFrame);
      return { violations, trusted };
    }, site.url);
    expect(blocked.trusted).toBe('refused');
    expect(blocked.violations).toEqual(expect.arrayContaining(['img-src', 'style-src-elem', 'connect-src']));
  });

  test('prevents framing', async () => {
    const { page } = visitor;
    await page.goto(`${site.url}/app/frame`);
    await page.evaluate((src) => {
      const frame = document.createElement('iframe');
      frame.src = src;
      document.body.append(frame);
    }, site.link());
    const framed = () => page.frames().find((frame) => frame !== page.mainFrame());
    // What the browser shows in place of a page that must not be framed.
    await expect.poll(() => framed()?.url()).toMatch(/^chrome-error:/);
    expect(await framed()?.content()).not.toContain('id="page"');
  });

  test('prevents requests to other origins', async () => {
    const { page } = visitor;
    const origins = new Set<string>();
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin);
    });
    site.flow.go(pause([username, password]));
    await page.goto(site.link());
    await page.getByLabel('Email or username').waitFor();
    expect([...origins]).toEqual([site.url]);
  });
});

describe('secrets', () => {
  test('a sent password remains in no address, storage, history, cookie or element', async () => {
    const { page, context } = visitor;
    site.flow.go(pause([username, password]));
    await page.goto(site.link());
    await page.getByLabel('Email or username').fill('ada');
    await page.getByLabel('Password', { exact: true }).fill('hunter2-secret');
    await page.getByRole('button', { name: 'Show Password' }).click();
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Signing you in' }).waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([
        location.href,
        history.state,
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        document.cookie,
      ]),
    );
    expect(kept).not.toContain('hunter2');
    expect(await page.content()).not.toContain('hunter2');
    expect(JSON.stringify(await context.cookies())).not.toContain('hunter2');
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', name: 'holdfast_login_conn1' });
  });
});

/** From now on the time of the pages of this visitor goes on when a test says so. */
async function stopClock(page: Page): Promise<void> {
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1_000);
}

/** Whether the page leads elsewhere by itself within so much of its time. */
async function ledAway(page: Page, withinMs: number): Promise<boolean> {
  const left: string[] = [];
  page.on('request', (request) => {
    if (request.isNavigationRequest()) left.push(request.url());
  });
  await page.clock.runFor(withinMs);
  // What the page asked for by then has been told before this is answered.
  await page.evaluate(() => fetch('/app/asked').then((answer) => answer.text())).catch(() => left.push('gone'));
  return left.length > 0;
}

describe('the return URL', () => {
  const FAILED: Change = {
    flow_status: 'FAILED',
    error_code: 'credentials_invalid',
    error_message: 'The site refused.',
  };

  test('a failure is passed on with code and message, after time to read', async () => {
    const { page, complaints } = visitor;
    await stopClock(page);
    site.flow.go(FAILED);
    await page.goto(site.link({ error_url: `${site.url}/app/failed?order=7#there` }));
    const back = page.getByRole('link', { name: /Go back to 127/ });
    expect(await back.getAttribute('href')).toBe(
      `${site.url}/app/failed?order=7&code=credentials_invalid&message=The+site+refused.#there`,
    );
    expect(await ledAway(page, 7_000)).toBe(false);
    await back.click();
    expect(page.url()).toContain('/app/failed?order=7&code=credentials_invalid');
    expect(complaints).toEqual([]);
  });

  test('the redirect can be canceled', async () => {
    const { page } = visitor;
    await stopClock(page);
    site.flow.go({ flow_status: 'SUCCESS' });
    await page.goto(site.link({ success_url: `${site.url}/app/done` }));
    await page.getByRole('button', { name: 'Stay on this page' }).click();
    expect(await ledAway(page, 60_000)).toBe(false);
    await page.getByRole('link', { name: /Go back/ }).click();
    expect(page.url()).toBe(`${site.url}/app/done?profile_name=ada&domain=shop.example.com`);
  });

  test('the automatic redirect leaves no history entry', async () => {
    const { page } = visitor;
    await page.goto(`${site.url}/app/start`);
    site.flow.go({ flow_status: 'SUCCESS' });
    await page.goto(site.link({ success_url: `${site.url}/app/done` }));
    await page.waitForURL(/\/app\/done/);
    await page.goBack();
    expect(page.url()).toBe(`${site.url}/app/start`);
  });

  test.each(['javascript:window.pwned=1', 'data:text/html,x', '//evil.example', 'https://u:p@evil.example/'])(
    'an address such as %s is as good as none',
    async (address) => {
      const { page, complaints } = visitor;
      site.flow.go({ flow_status: 'SUCCESS' });
      await page.goto(site.link({ success_url: address, error_url: address }));
      await page.getByText('You can close this page.').waitFor();
      expect(await page.getByRole('link').count()).toBe(0);
      expect(complaints).toEqual([]);
    },
  );

  test('a return URL injected into the document is validated again', async () => {
    const { page } = visitor;
    await page.addInitScript(() => {
      document.addEventListener('DOMContentLoaded', () => undefined);
      new MutationObserver(() =>
        document.documentElement.setAttribute('data-success-url', 'javascript:alert(1)'),
      ).observe(document, { childList: true });
    });
    site.flow.go({ flow_status: 'SUCCESS' });
    await page.goto(site.link());
    await page.getByText('You can close this page.').waitFor();
    expect(await page.getByRole('link').count()).toBe(0);
  });
});
