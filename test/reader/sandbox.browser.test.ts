import { type Browser, type CDPSession, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readPage, readWhenSettled, settle } from '../../activities/login/reading/read-page.ts';
import { SANDBOX_USERS, startSandbox, type Sandbox } from '../../sandbox/site.ts';
import { control } from '../sandbox/visitor.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

let browser: Browser;
let site: Sandbox;
let page: Page;
let devtools: CDPSession;

beforeAll(async () => {
  site = await startSandbox({ port: 0 });
  browser = await openViewer();
  page = await browser.newPage();
  devtools = await page.context().newCDPSession(page);
});
afterAll(async () => {
  await closeViewer(browser);
  await site.close();
});
beforeEach(async () => {
  await control(site.url, '/test/reset', {});
  // As good as a new page, which costs a process: a document of its own, and nothing that the site has kept.
  await page.goto('about:blank');
  await page.context().clearCookies();
  await devtools.send('Storage.clearDataForOrigin', { origin: site.url, storageTypes: 'all' });
});

function password(username: string): string {
  return SANDBOX_USERS.find((user) => user.username === username)?.password ?? '';
}

/** Reads, types into the fields in their order, and presses what the reading names. */
async function enter(...values: string[]): Promise<void> {
  const reading = await readWhenSettled(page);
  for (const [index, field] of reading.fields.entries()) {
    await page.locator(field.selector).click();
    await page.keyboard.type(values[index] ?? '');
  }
  if (!reading.submit) throw new Error('nothing to press');
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.locator(reading.submit.selector).click();
  await answered;
  await page.waitForLoadState();
}

describe('the practice site, read step by step', () => {
  it('finds the sign-in link on the home page', async () => {
    await page.goto(site.url);
    const reading = await readWhenSettled(page);
    expect(reading).toMatchObject({ kind: 'other', sign_in_link: { href: `${site.url}/login` } });
  });

  it('reads the refusal and then the account of a one-page login', async () => {
    await page.goto(`${site.url}/login`);
    await enter('alice', 'wrong');
    const refused = await readWhenSettled(page);
    expect(refused).toMatchObject({ kind: 'form', website_error: 'Incorrect username or password.' });
    expect(refused.fields.map((field) => [field.type, field.label])).toEqual([
      ['identifier', 'Username or email'],
      ['password', 'Password'],
    ]);
    await page.goto(`${site.url}/login`);
    await enter('alice', password('alice'));
    expect(await readWhenSettled(page)).toMatchObject({ kind: 'logged_in', fields: [], choices: [] });
  });

  it('reads a two-step login', async () => {
    await page.goto(`${site.url}/login/two-step`);
    await enter('nobody');
    expect((await readWhenSettled(page)).website_error).toBe("Couldn't find your account.");
    await page.goto(`${site.url}/login/two-step`);
    await enter('bob');
    expect((await readWhenSettled(page)).fields.map((field) => field.type)).toEqual(['password']);
    await enter(password('bob'));
    expect((await readWhenSettled(page)).kind).toBe('logged_in');
  });

  it('reads a form that appears late and posts by script', async () => {
    await page.goto(`${site.url}/login/late`);
    await enter('erin', 'wrong');
    expect((await readWhenSettled(page)).website_error).toBe('The email or password you entered is wrong.');
  });

  it('reads TOTP, text message, and a choice of second factors', async () => {
    await page.goto(`${site.url}/login/totp`);
    await enter('carol', password('carol'));
    expect((await readWhenSettled(page)).fields).toMatchObject([{ type: 'totp_code', label: 'Authentication code' }]);

    await page.goto(`${site.url}/login/sms`);
    await enter('dave', password('dave'));
    const sms = await readWhenSettled(page);
    expect(sms.fields).toMatchObject([{ type: 'code', boxes: 1 }]);
    expect(sms.fields[0]?.hint).toContain('•••-•••-••13');

    await page.goto(`${site.url}/login/mfa-choice`);
    await enter('frank', password('frank'));
    const choice = await readWhenSettled(page);
    expect(choice.kind).toBe('choice');
    expect(choice.choices.map((each) => [each.type, each.mfa_type, each.label, each.masked_destination])).toEqual([
      ['mfa_method', 'sms', 'Text message', '•••-•••-••15'],
      ['mfa_method', 'totp', 'Authenticator app', null],
      ['mfa_method', 'email', 'Email', 'f•••@sandbox.test'],
    ]);
    await page.locator(choice.choices[0]?.selector ?? '').click();
    await page.waitForURL('**/code');
    const boxes = await readWhenSettled(page);
    expect(boxes.fields).toMatchObject([{ type: 'code', boxes: 6, label: 'Enter your code' }]);
    expect(boxes.choices).toMatchObject([{ type: 'mfa_method', mfa_type: 'switch' }]);
  });

  it('reads identity providers and the page of one', async () => {
    await page.goto(`${site.url}/login/sso`);
    const reading = await readWhenSettled(page);
    expect(reading.choices.map((choice) => choice.provider)).toEqual(['google', 'microsoft', 'apple', 'github']);
    expect(reading.fields.map((field) => field.type)).toEqual(['identifier', 'password']);
    await page.goto(`${site.url}/idp/google`);
    expect((await readWhenSettled(page)).fields.map((field) => field.type)).toEqual(['identifier']);
  });

  it.each([
    ['/login/picker', 'choice'],
    ['/login/passkey', 'passkey'],
    ['/login/captcha', 'captcha'],
    ['/login/blocked', 'blocked'],
    ['/login/error500', 'unavailable'],
    ['/login/magic-link', 'form'],
  ])('%s is %s', async (path, kind) => {
    await page.goto(`${site.url}${path}`);
    expect((await readWhenSettled(page)).kind).toBe(kind);
  });

  it('reads a push and a mailed link as external actions', async () => {
    await page.goto(`${site.url}/login/push`);
    await enter('heidi', password('heidi'));
    const push = await readWhenSettled(page);
    expect(push.kind).toBe('external_action');
    expect(push.mailed_link).toBeUndefined();
    expect(push.external_action_message).toContain('We sent a notification to your phone');
    await page.goto(`${site.url}/login/magic-link`);
    await enter('alice@sandbox.test');
    expect(await readWhenSettled(page)).toMatchObject({ kind: 'external_action', mailed_link: true });
  });

  it('reads nothing from a site that is down or returns nonsense', async () => {
    await control(site.url, '/test/mode', { mode: 'down' });
    await page.goto(`${site.url}/account`);
    expect((await readWhenSettled(page)).kind).toBe('unavailable');
    await control(site.url, '/test/mode', { mode: 'nonsense' });
    await page.goto(`${site.url}/account`);
    const nonsense = await readWhenSettled(page, { patienceMs: 300 });
    expect(nonsense).toMatchObject({ fields: [], choices: [], sign_in_link: null });
    expect(['other', 'unavailable']).toContain(nonsense.kind);
  });
});

it('settles fast on a complete page, and reads no typed values', async () => {
  await page.goto(`${site.url}/login`);
  await settle(page);
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const before = performance.now();
    await settle(page);
    times.push(performance.now() - before);
  }
  // The best of some: the machine may be busy with other tests.
  expect(Math.min(...times)).toBeLessThan(1000);
  await page.locator('#password').fill('typed-secret');
  await page.locator('#username').fill('typed-name');
  expect(JSON.stringify(await readPage(page))).not.toContain('typed-');
});

it('does not fail when reading a page that is navigating away', async () => {
  await page.goto(`${site.url}/login`);
  const reading = readWhenSettled(page);
  await page.goto(`${site.url}/login/two-step`);
  expect((await reading).kind).toBe('form');
});
