import { type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerWidget, findPageWidget } from '../../activities/login/captcha/page-widget.ts';
import { observeCaptcha, askSolver, takeSolution } from '../../activities/login/captcha/solve.ts';
import { createCaptchaSolver } from '../../activities/login/captcha/solver-client.ts';
import { readLogin } from '../../activities/login/reading/read-login.ts';
import { CaptchaSolve } from '../../contract/captcha-solves.ts';
import type { BrowserService } from '../../browser-client/service.ts';
import { startSandbox, type Sandbox } from '../../sandbox/site.ts';
import { loginTarget } from './login-fixtures.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

let browser: Browser;
let site: Sandbox;
let page: Page;
let told: CaptchaSolve[];
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
  // As good as a new page, which costs a process: a document of its own, and no cookies.
  await page.goto('about:blank');
  await page.context().clearCookies();
  told = [];
});

const { signal } = new AbortController();
const pages = { of: async () => page, release: async () => undefined, close: async () => undefined };
const unused = (): never => {
  throw new Error('nothing else is asked of the browser service');
};
/** A browser service of which only what it is told of captchas counts. */
const service: BrowserService = {
  call: ({ body }) => {
    told.push(CaptchaSolve.parse(body));
    throw new Error('a service that does not know of captchas is no hindrance');
  },
  exchange: unused,
  open: unused,
  close: async () => undefined,
};

/** The activities of a login that stands before a page of the practice site, with its solver, which behaves as `key` says. */
async function before(path: string, key: string, solverUrl = `${site.url}/captcha-solver`) {
  await page.goto(`${site.url}${path}`);
  const target = loginTarget({ domain: new URL(site.url).host });
  const on = { target, sessionId: 'brw_1' };
  const deps = { pages, service, captchas: createCaptchaSolver({ url: solverUrl, key }) };
  return {
    solvable: async () => observeCaptcha(deps, on, await readLogin(page)),
    ask: () => askSolver(deps, on, signal),
    take: (task: { id: string | number }, isLast = false) => takeSolution(deps, { ...on, task, isLast }, signal),
  };
}

describe('a widget of the practice site', () => {
  it.each([
    ['/login/captcha-widget?next=secret', 'turnstile', 'TurnstileTaskProxyless'],
    ['/login/captcha-widget/form?next=secret', 'recaptcha_v2', 'RecaptchaV2TaskProxyless'],
  ])('%s is solved by a solver, which gets only its key and URL', async (path, type, task) => {
    const login = await before(path, 'right');
    expect(await login.solvable()).toEqual({ solvable: true });
    const begun = await login.ask();
    if (begun === null) throw new Error('the solver takes no task');
    expect(await login.take(begun)).toEqual({ state: 'waiting' });
    expect(await login.take(begun)).toMatchObject({ state: 'answered', reading: { kind: 'form' } });
    expect(new URL(page.url()).pathname).toBe('/login');
    const Asked = z.object({ tasks: z.array(z.unknown()) });
    const { tasks } = Asked.parse(await (await fetch(`${site.url}/captcha-solver/asked`)).json());
    const websiteURL = `${site.url}${path.replace(/\?.*/, '')}`;
    expect(tasks.at(-1)).toEqual({ type: task, websiteURL, websiteKey: expect.any(String) as unknown });
    const task_id = String(begun.id);
    expect(told).toMatchObject([
      { state: 'started', task_id, captcha_type: type, website_path: new URL(websiteURL).pathname },
      { state: 'ended', task_id, status: 'success' },
    ]);
    expect(JSON.stringify(told)).not.toMatch(/secret|answer-/);
  });

  it('is left to a person if the answer of the solver is wrong', async () => {
    const login = await before('/login/captcha-widget', 'wrong');
    const begun = await login.ask();
    if (begun === null) throw new Error('the solver takes no task');
    await login.take(begun);
    expect(await login.take(begun)).toMatchObject({ state: 'answered', reading: { kind: 'captcha' } });
    await page.locator('#tick').click();
    await page.waitForURL('**/login');
  });

  it('is abandoned if the solver takes too long', async () => {
    const login = await before('/login/captcha-widget', 'slow');
    const begun = await login.ask();
    if (begun === null) throw new Error('the solver takes no task');
    expect(await login.take(begun)).toEqual({ state: 'waiting' });
    expect(await login.take(begun, true)).toEqual({ state: 'failed' });
    expect(told.at(-1)).toEqual({ state: 'ended', task_id: String(begun.id), status: 'timeout' });
  });

  it.each([
    ['refuses', 'refused', undefined],
    ['is something else', 'nonsense', undefined],
    ['is away', 'right', 'http://127.0.0.1:9'],
  ])('is left unsolved if the solver %s', async (_what, key, url) => {
    const login = await before('/login/captcha-widget', key, url);
    expect(await login.ask()).toBeNull();
    expect(told).toEqual([]);
  });

  it('is not found on a page without a key', async () => {
    const login = await before('/login/captcha', 'right');
    expect(await login.solvable()).toEqual({});
    expect(await login.ask()).toBeNull();
  });
});

describe('an answer', () => {
  const RENDERED = `<form action="javascript:void 0"><div id="box" data-sitekey="6Lrendered00000000"></div>
    <input name="user"><input type="password" name="password" value="typed">
    <textarea name="g-recaptcha-response" hidden></textarea></form>
    <script>window.sent = 0; document.forms[0].addEventListener('submit', () => { window.sent += 1; });</script>`;
  const give = async (markup: string): Promise<void> => {
    await page.setContent(markup);
    const seen = await findPageWidget(page, loginTarget());
    if (seen === null) throw new Error('no widget is seen');
    expect(await answerWidget(seen, 'the-answer')).toBe(true);
    // What the answer starts comes after it, in turn.
    await page.evaluate('new Promise((done) => setTimeout(done))');
  };

  it('is passed to the callback that a script gave reCAPTCHA', async () => {
    await give(`${RENDERED}<script>
      window.___grecaptcha_cfg = { clients: { 0: { a: { b: { sitekey: '6Lrendered00000000', callback: (got) => { window.got = got; } } },
        c: { sitekey: '6Lanother', callback: () => { window.other = true; } } } } };
    </script>`);
    const seen = `[window.got, window.other, document.getElementsByName('g-recaptcha-response')[0].value, window.sent]`;
    expect(await page.evaluate(seen)).toEqual(['the-answer', undefined, 'the-answer', 0]);
  });

  it('does not submit a form that something was typed into', async () => {
    await give(RENDERED);
    const seen = `[document.getElementsByName('g-recaptcha-response')[0].value, window.sent]`;
    expect(await page.evaluate(seen)).toEqual(['the-answer', 0]);
  });
});
