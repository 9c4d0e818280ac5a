import { EventEmitter, once } from 'node:events';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { password, pause, username } from './pauses.ts';
import { listen, PHONE, serve, visit, type Site, type Visitor } from './visit.ts';
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
  visitor = await visit(browser, PHONE);
});
afterEach(async () => {
  expect(visitor.complaints).toEqual([]);
  await visitor.context.close();
  await site.close();
});

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

describe('the link', () => {
  test('the code leaves the address bar, the return URLs stay, and a reload continues', async () => {
    const { page } = visitor;
    site.flow.go(pause([username, password]));
    await page.goto(site.link({ success_url: 'https://app.example.com/ok', error_url: 'https://app.example.com/no' }));
    await heading(page, 'Enter your sign-in details');
    const url = new URL(page.url());
    expect(url.searchParams.has('code')).toBe(false);
    expect(url.searchParams.get('success_url')).toBe('https://app.example.com/ok');
    await page.reload();
    await heading(page, 'Enter your sign-in details');
    await page.getByLabel('Email or username').waitFor();
  });

  test('works again in the browser that opened it first, but in no other', async () => {
    const { page } = visitor;
    site.flow.go(pause([username, password]));
    const link = site.link();
    await page.goto(link);
    await heading(page, 'Enter your sign-in details');
    await page.goto('about:blank');
    await page.goto(link);
    await heading(page, 'Enter your sign-in details');

    const stranger = await visit(browser);
    await stranger.page.goto(link);
    await heading(stranger.page, 'This link has expired or was already used');
    expect(await stranger.page.content()).not.toContain('shop.example.com');
    expect(stranger.complaints).toEqual([]);
    await stranger.context.close();
  });

  test('an unknown code is rejected, even in a browser with a session', async () => {
    const { page } = visitor;
    await page.goto(site.link());
    await heading(page, 'Finding the sign-in form');
    await page.goto(`${site.url}/login/conn1?code=made-up&error_url=https://app.example.com/no`);
    await heading(page, 'This link does not work');
    const back = page.getByRole('link', { name: 'Go back to app.example.com' });
    expect(await back.getAttribute('href')).toContain('code=link_unknown');
    await page.waitForTimeout(1_000);
    expect(page.url()).toContain('/login/conn1');
  });

  test('without a code and a cookie, the page asks for a new link', async () => {
    await visitor.page.goto(`${site.url}/login/conn1`);
    await heading(visitor.page, 'This page needs a new link');
  });

  test('a reload during the exchange does not lock the person out', async () => {
    const { page } = visitor;
    const { deps } = site.flow;
    const redeem = deps.exchange.bind(deps);
    const steps = new EventEmitter();
    const [redeemed, reloaded] = [once(steps, 'redeemed'), once(steps, 'reloaded')];
    // The server redeems the code, but its answer, cookie included, comes to a page that is gone.
    deps.exchange = async (...call) => {
      const result = await redeem(...call);
      steps.emit('redeemed');
      await reloaded;
      return result;
    };
    await page.goto(site.link());
    await redeemed;
    await page.reload();
    steps.emit('reloaded');
    await heading(page, 'Finding the sign-in form');
  });
});

describe('several flows and tabs', () => {
  test('two connections in one browser do not interfere', async () => {
    const other = await serve('conn2');
    const { page, context } = visitor;
    site.flow.go(pause([username]));
    other.flow.go({ ...pause([password]), domain: 'bank.example.com' });
    await page.goto(site.link());
    const second = await context.newPage();
    await second.goto(other.link());
    await second.getByText('bank.example.com').first().waitFor();
    await Promise.all([page.reload(), second.reload()]);
    await heading(page, 'Enter your username');
    await heading(second, 'Enter your password');
    await other.close();
  });

  test('an answer in one tab moves the other one on without an error', async () => {
    const { page, context } = visitor;
    site.flow.go(pause([username]));
    await page.goto(site.link());
    await heading(page, 'Enter your username');
    const second = await context.newPage();
    const complaints = listen(second);
    await second.goto(`${site.url}/login/conn1`);
    await heading(second, 'Enter your username');
    await second.getByLabel('Email or username').fill('ada');
    await second.keyboard.press('Enter');
    await heading(second, 'Signing you in');
    site.flow.go(pause([password]));
    await heading(page, 'Enter your password');
    await heading(second, 'Enter your password');
    expect(complaints).toEqual([]);
  });

  test('an answer to a past interaction moves on to the pending one', async () => {
    const { page } = visitor;
    site.flow.go(pause([username]));
    await page.goto(site.link());
    await heading(page, 'Enter your username');
    // The stream is dead and the page does not know: only the answer tells.
    await page.route('**/events', (route) => route.abort());
    site.flow.failStreams = true;
    site.flow.cutStreams();
    await page.waitForTimeout(200);
    site.flow.go(pause([password]));
    await page.getByLabel('Email or username').fill('ada');
    await page.keyboard.press('Enter');
    await heading(page, 'Enter your password');
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test("a state that arrives before the submit's response stays on screen", async () => {
    const { page } = visitor;
    site.flow.go(pause([username]));
    await page.goto(site.link());
    await page.route('**/submit', async (route) => {
      const answer = await route.fetch();
      site.flow.go({ flow_status: 'SUCCESS' });
      await heading(page, 'You are signed in');
      await route.fulfill({ response: answer });
    });
    await page.getByLabel('Email or username').fill('ada');
    await page.keyboard.press('Enter');
    await heading(page, 'You are signed in');
    await page.waitForTimeout(500);
    await heading(page, 'You are signed in');
  });

  test('a newer flow is never shown in the page of the old one', async () => {
    const { page } = visitor;
    await page.goto(site.link());
    await heading(page, 'Finding the sign-in form');
    site.flow.restart();
    site.flow.go({ ...pause([password]), domain: 'secret-of-another.example' });
    await heading(page, 'A newer sign-in has started');
    await page.reload();
    await heading(page, 'A newer sign-in has started');
    expect(await page.content()).not.toContain('secret-of-another');
  });

  test('the tab of an old flow stays ended when a new link is opened', async () => {
    const { page, context } = visitor;
    await page.goto(site.link());
    await heading(page, 'Finding the sign-in form');
    site.flow.restart();
    const second = await context.newPage();
    await second.goto(site.link());
    await heading(second, 'Finding the sign-in form');
    await heading(page, 'A newer sign-in has started');
    site.flow.go(pause([password]));
    await heading(second, 'Enter your password');
  });

  test('deleting the connection ends the page', async () => {
    const { page } = visitor;
    await page.goto(site.link());
    await heading(page, 'Finding the sign-in form');
    site.flow.remove();
    await heading(page, 'This link does not work');
  });
});
