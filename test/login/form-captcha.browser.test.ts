import { type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { waitForCaptchaAnswer, hasUnansweredCaptcha } from '../../activities/login/captcha/form-captcha.ts';
import { observeCaptcha, askSolver, takeSolution } from '../../activities/login/captcha/solve.ts';
import { createCaptchaSolver } from '../../activities/login/captcha/solver-client.ts';
import { readLogin } from '../../activities/login/reading/read-login.ts';
import type { BrowserService } from '../../browser-client/service.ts';
import { startSandbox, type Sandbox } from '../../sandbox/site.ts';
import { control } from '../sandbox/visitor.ts';
import { loginTarget } from './login-fixtures.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

let browser: Browser;
let site: Sandbox;
let page: Page;
beforeAll(async () => {
  browser = await openViewer();
  site = await startSandbox({ port: 0 });
  page = await browser.newPage();
});
afterAll(async () => {
  await closeViewer(browser);
  await site.close();
});
beforeEach(async () => {
  await control(site.url, '/test/reset', {});
  // As good as a new page, which costs a process: a document of its own, and no cookies.
  await page.goto('about:blank');
  await page.context().clearCookies();
});

const { signal } = new AbortController();
const pages = { of: async () => page, release: async () => undefined, close: async () => undefined };
const unused = (): never => {
  throw new Error('nothing is asked of the browser service that a login could not do without');
};
const service: BrowserService = { call: unused, exchange: unused, open: unused, close: async () => undefined };

const FIELDS = `<label>User <input name="user"></label><label>Password <input type="password" name="pass"></label>`;
const form = (beside: string, after = ''): string =>
  `<h1>Sign in</h1><form>${FIELDS}${beside}<button>Sign in</button></form>${after}`;
const frame = (more = ''): string => `<iframe ${more} width="304" height="78" srcdoc="<p>tick</p>"></iframe>`;
const answer = (name: string, value = ''): string => `<input type="hidden" name="${name}" value="${value}">`;
const RECAPTCHA = (value = ''): string =>
  `<div class="g-recaptcha" data-sitekey="6LrealLooking"><div><div>${frame()}</div>
   <textarea name="g-recaptcha-response" style="display: none">${value}</textarea></div></div>`;
/** Turnstile draws into a shadow that scripts do not see; a page may have it do so in an element of any name. */
const TURNSTILE = (height: number, value = ''): string =>
  `<div id="box"><div style="width: 300px; height: ${height}px"></div>${answer('cf-turnstile-response', value)}</div>`;

describe('a form', () => {
  it.each([
    ['the box of reCAPTCHA', form(RECAPTCHA())],
    [
      'the box of hCaptcha',
      form(
        `<div class="h-captcha" data-sitekey="a5f74b19">${frame()}
         <textarea name="g-recaptcha-response" hidden></textarea><textarea name="h-captcha-response" hidden></textarea></div>`,
      ),
    ],
    ['Turnstile in sight', form(TURNSTILE(65))],
    [
      'Friendly Captcha that was not begun',
      form(
        `<div class="frc-captcha" data-sitekey="FCMG" style="height: 60px">Click to verify${answer('frc-captcha-solution', '.UNSTARTED')}</div>`,
      ),
    ],
    ['a box that stands beside the form', form('', RECAPTCHA())],
    ['a box in a frame of the site', form(`<iframe width="320" height="120" srcdoc='${RECAPTCHA()}'></iframe>`)],
    [
      'a box of its own kind',
      form(
        `<div class="captcha-box" data-sitekey="k"><label><input type="checkbox"> I am human</label>${answer('proof')}</div>`,
      ),
    ],
  ])('waits for %s', async (_what, markup) => {
    await page.setContent(markup);
    const reading = await readLogin(page);
    expect(reading.kind).toBe('form');
    expect(await hasUnansweredCaptcha(page, reading)).toBe(true);
  });

  const BADGE = `<div class="grecaptcha-badge" style="width: 256px; height: 60px; position: fixed; bottom: 14px">
    <iframe src="about:blank?size=invisible" width="256" height="60"></iframe><textarea name="g-recaptcha-response" style="display: none"></textarea></div>`;
  it.each([
    ['nothing', form('')],
    ['a box that has its answer', form(RECAPTCHA('answer'))],
    [
      'hCaptcha that has one of its two answers',
      form(
        `<div class="h-captcha" data-sitekey="k">${frame()}${answer('g-recaptcha-response')}${answer('h-captcha-response', 'a')}</div>`,
      ),
    ],
    ['the badge of reCAPTCHA v3', form('', BADGE)],
    ['the same inside of the form', form(BADGE)],
    ['a field that the site fills in as it sends', form(answer('g-recaptcha-response'))],
    ['Turnstile out of sight', form(TURNSTILE(0))],
    [
      'a button that asks as it is pressed',
      form('<button class="g-recaptcha" data-sitekey="6Lk" data-callback="send">Go</button>'),
    ],
    [
      'an invisible hCaptcha',
      form(
        `<div class="h-captcha" data-sitekey="k" data-size="invisible">${frame()}${answer('h-captcha-response')}</div>`,
      ),
    ],
    ['a box whose script never came', form('<div class="g-recaptcha" data-sitekey="6Lk"></div>')],
    [
      'the box of another form',
      form(
        '',
        `<form><input name="news" type="email" placeholder="Newsletter">${RECAPTCHA()}<button>Subscribe</button></form>`,
      ),
    ],
  ])('does not wait for %s', async (_what, markup) => {
    await page.setContent(markup);
    const reading = await readLogin(page);
    expect(reading.kind).toBe('form');
    expect(await hasUnansweredCaptcha(page, reading)).toBe(false);
    const [field] = reading.fields;
    if (field === undefined) throw new Error('no field is read');
    expect(await waitForCaptchaAnswer(page, field, true, signal)).toBe(true);
  });
});

describe('before a form is sent', () => {
  const soon = async (beforePress: boolean, path = '/login/captcha-beside'): Promise<boolean> => {
    await page.goto(`${site.url}${path}`);
    const [field] = (await readLogin(page)).fields;
    if (field === undefined) throw new Error('no field is read');
    return await waitForCaptchaAnswer(page, field, beforePress, signal);
  };

  it('waits for a captcha that solves itself', async () => {
    await control(site.url, '/test/captcha', { beside: 'itself' });
    expect(await soon(false)).toBe(true);
    expect(await page.locator('[name=g-recaptcha-response]').inputValue()).toMatch(/^answer-/);
  });

  it('waits for a hidden captcha right before the press', async () => {
    await page.setContent(form(TURNSTILE(0)));
    const [field] = (await readLogin(page)).fields;
    if (field === undefined) throw new Error('no field is read');
    const value = (): Promise<string> => page.locator('[name=cf-turnstile-response]').inputValue();
    await page.evaluate(`void setTimeout(() => {
      document.getElementsByName('cf-turnstile-response')[0].value = 'by itself'; }, 100)`);
    expect(await waitForCaptchaAnswer(page, field, true, signal)).toBe(true);
    expect(await value()).toBe('by itself');
  });

  it('does not look for a field that has gone, as after the last digit of a code', async () => {
    await page.setContent('<title>Acme</title><a href="/logout">Log out</a>');
    const look = vi.spyOn(page.mainFrame(), 'locator');
    expect(await waitForCaptchaAnswer(page, { selector: 'input', frame: [] }, true, signal)).toBe(true);
    expect(look).not.toHaveBeenCalledWith('input');
  });

  it('is stopped by a checkbox captcha', async () => {
    expect(await soon(true)).toBe(false);
    await page.locator('#tick').click();
    await page.waitForFunction(`document.getElementsByName('g-recaptcha-response')[0].value !== ''`);
    const reading = await readLogin(page);
    expect(await hasUnansweredCaptcha(page, reading)).toBe(false);
    // As it is when it has expired.
    await page.evaluate(`document.getElementsByName('g-recaptcha-response')[0].value = ''`);
    expect(await hasUnansweredCaptcha(page, reading)).toBe(true);
  });

  it('is stopped by a captcha that appears while the password is typed, and by one in a frame with the form', async () => {
    await control(site.url, '/test/captcha', { beside: 'typed' });
    expect(await soon(false)).toBe(true);
    await page.locator('#password').fill('typed');
    expect(await hasUnansweredCaptcha(page, await readLogin(page))).toBe(true);
    await control(site.url, '/test/captcha', { beside: 'framed' });
    expect(await soon(false)).toBe(false);
  });

  it('lets a solver solve the captcha without submitting the form', async () => {
    await page.goto(`${site.url}/login/captcha-beside`);
    const on = { target: loginTarget({ domain: new URL(site.url).host }), sessionId: 'brw_1' };
    const captchas = createCaptchaSolver({ url: `${site.url}/captcha-solver`, key: 'right' });
    const deps = { pages, service, captchas };
    expect(await observeCaptcha(deps, on, await readLogin(page))).toEqual({ unproved: true, solvable: true });
    const task = await askSolver(deps, on, signal);
    if (task === null) throw new Error('the solver takes no task');
    const take = () => takeSolution(deps, { ...on, task, isLast: false }, signal);
    expect(await take()).toEqual({ state: 'waiting' });
    const solved = await take();
    if (solved.state !== 'answered') throw new Error(`the solver has ${solved.state}`);
    expect(await observeCaptcha(deps, on, solved.reading)).toEqual({});
    expect(new URL(page.url()).pathname).toBe('/login/captcha-beside');
  });
});

it('reports that a site has not verified the password', async () => {
  await control(site.url, '/test/captcha', { beside: 'later' });
  await page.goto(`${site.url}/login/captcha-beside`);
  expect(await hasUnansweredCaptcha(page, await readLogin(page))).toBe(false);
  await page.locator('#username').fill('alice');
  await page.locator('#password').fill('whatever');
  await page.locator('button').click();
  const reading = await readLogin(page);
  expect(reading).toMatchObject({ kind: 'form', wants_proof: true });
  expect(await hasUnansweredCaptcha(page, reading)).toBe(true);
});
