import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HoldfastError } from '../../contract/errors.ts';
import { password, pause, smsCode, username } from './pauses.ts';
import { PHONE, serve, visit, type Site, type Visitor } from './visit.ts';
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

describe('an unreliable network', () => {
  test('a broken stream resumes after the last seen state without redrawing', async () => {
    const { page } = visitor;
    site.flow.go(pause([username]));
    await page.goto(site.link());
    await page.getByLabel('Email or username').fill('half typed');
    await expect.poll(() => site.flow.streamStarts.length).toBe(1);
    site.flow.cutStreams();
    await expect.poll(() => site.flow.streamStarts.length).toBe(2);
    expect(site.flow.streamStarts).toEqual([null, 2]);
    expect(await page.getByLabel('Email or username').inputValue()).toBe('half typed');
    expect(await page.getByText('Connection lost').count()).toBe(0);
    site.flow.go(pause([smsCode]));
    await heading(page, 'Enter your code');
  });

  test('an outage is announced, retried, and its end announced', async () => {
    const { page } = visitor;
    site.flow.go(pause([username]));
    await page.goto(site.link());
    await heading(page, 'Enter your username');
    await page.route('**/events', (route) => route.fulfill({ status: 503, body: '{}' }));
    site.flow.cutStreams();
    await page.getByText('Connection lost. Trying again').first().waitFor();
    // What is said is replaced by what is said next: all of it is kept here.
    const said = await page.evaluateHandle(() => {
      const texts: string[] = [];
      const keep = (): void => {
        document.querySelectorAll('[role=status]').forEach((status) => texts.push(status.textContent));
      };
      new MutationObserver(keep).observe(document.body, { childList: true, characterData: true, subtree: true });
      return texts;
    });
    await page.unroute('**/events');
    site.flow.go(pause([smsCode]));
    await heading(page, 'Enter your code');
    await expect.poll(() => page.locator('.banner').isVisible()).toBe(false);
    await expect.poll(() => said.evaluate((texts) => texts.join(' '))).toContain('Reconnected.');
  });

  test('going offline is announced at once; typed text is kept and can be sent later', async () => {
    const { page, context } = visitor;
    site.flow.go(pause([username, password]));
    await page.goto(site.link());
    await page.getByLabel('Email or username').fill('ada');
    await page.getByLabel('Password', { exact: true }).fill('secret');
    await context.setOffline(true);
    await page.getByText('You are offline.').first().waitFor();
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText('The connection failed').waitFor();
    expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('secret');
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await heading(page, 'Signing you in');
    expect(site.flow.submitted).toHaveLength(1);
  });

  test('a submit whose response was lost can be repeated without an error', async () => {
    const { page } = visitor;
    site.flow.go(pause([username]));
    await page.goto(site.link());
    await heading(page, 'Enter your username');
    await page.route('**/events', (route) => route.abort());
    site.flow.failStreams = true;
    site.flow.cutStreams();
    await page.route('**/submit', async (route) => {
      await page.unroute('**/submit');
      await route.fetch();
      site.flow.go(pause([password]));
      await route.abort('connectionreset');
    });
    await page.getByLabel('Email or username').fill('ada');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The connection failed').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await heading(page, 'Enter your password');
  });

  test('a second press on a slow network sends nothing twice', async () => {
    const { page } = visitor;
    site.flow.go(pause([username]));
    let accept = (): void => undefined;
    const accepted = new Promise<void>((resolve) => (accept = resolve));
    site.flow.onSubmit = () => accepted;
    await page.goto(site.link());
    await page.getByLabel('Email or username').fill('ada');
    const button = page.getByRole('button', { name: 'Continue' });
    await button.click();
    const sending = page.getByRole('button', { name: 'Sending…' });
    expect(await sending.getAttribute('aria-disabled')).toBe('true');
    await sending.click({ force: true });
    await page.keyboard.press('Enter');
    accept();
    await heading(page, 'Signing you in');
    expect(site.flow.submitted).toHaveLength(1);
  });

  test('a page opened during an outage enters once the service is back', async () => {
    const { page } = visitor;
    await page.route('**/exchange', (route) => route.fulfill({ status: 502, body: 'bad gateway' }));
    await page.goto(site.link());
    await page.getByText('Your network is slow').first().waitFor();
    await page.unroute('**/exchange');
    await heading(page, 'Finding the sign-in form');
  });

  test('a transient rejection is shown and leaves the form unchanged', async () => {
    const { page } = visitor;
    site.flow.go(pause([username]));
    site.flow.onSubmit = () => {
      throw new HoldfastError('rate_limited', 'slow down', { retryAfterSeconds: 1 });
    };
    await page.goto(site.link());
    await page.getByLabel('Email or username').fill('ada');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').getByText('Too many attempts').waitFor();
    site.flow.onSubmit = () => undefined;
    await page.getByRole('button', { name: 'Continue' }).click();
    await heading(page, 'Signing you in');
  });
});

describe('the countdown', () => {
  const inSeconds = (seconds: number) => ({ flow_expires_at: new Date(Date.now() + seconds * 1000).toISOString() });

  test('is shown as minutes and seconds and announced when a minute is left', async () => {
    const { page } = visitor;
    site.flow.go(inSeconds(63));
    await page.goto(site.link());
    await page
      .getByRole('timer')
      .getByText(/^(1:0\d|0:59)$/)
      .waitFor();
    await page.getByRole('status').getByText('One minute left').waitFor();
  });

  test('when it runs out, the page refetches the state and shows the end', async () => {
    const { page } = visitor;
    site.flow.go(inSeconds(3));
    await page.goto(site.link());
    await page.route('**/events', (route) => route.abort());
    site.flow.failStreams = true;
    site.flow.go({ flow_status: 'EXPIRED' });
    await heading(page, 'Time is up');
    expect(await page.getByRole('timer').count()).toBe(0);
  });
});
