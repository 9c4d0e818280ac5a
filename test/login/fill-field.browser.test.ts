import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { createBrowserService, type BrowserService } from '../../browser-client/service.ts';
import { authorUrl, mayTypeInto } from '../../activities/login/allowed-sites.ts';
import { fillField } from '../../activities/login/entering/fill-field.ts';
import { resolveFrame, type PageInput } from '../../activities/login/entering/page-input.ts';
import { readWhenSettled } from '../../activities/login/reading/read-page.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { API_KEY, startSite, type ServiceUnderTest, type Site } from '../browser/service-under-test.ts';
import { it } from '../browser/shared-service.ts';

const LISTS = `<!doctype html><title>Log on</title><form><label>User <input name="user"></label>
  <label>Born on <input type="date" name="born"></label>
  <label>Password <input type="password" name="pass"></label>
  <label>Domain <select name="domain"><option value="">Choose</option><option value="c">Corp</option><option value="s">Sales West</option></select></label>
  <label>Realm <select name="realm"><option value="">Choose</option><option value="n">1 · North</option><option value="o">2 · South</option></select></label>
  <button>Log on</button></form>`;
/** Lists that scripts draw: one of a component, over the fields below it while it is open, one of plain elements that opens late, and a button that opens one. */
const DRAWN_LISTS = `<!doctype html><title>Log on</title><style>[role=listbox] { position: absolute; background: white; width: 300px; height: 200px }</style>
  <h1>Log on</h1><form><x-list label="Tenant" name="tenant"><x-entry role="option" id="n">North</x-entry><x-entry role="option" id="s">North Sea</x-entry></x-list>
  <div><span id="realm-words">Realm</span><div role="combobox" tabindex="0" aria-labelledby="realm-words" aria-controls="realms" id="realm">One</div>
  <div role="listbox" id="realms" hidden><div role="option">One</div><div role="option">Two</div></div></div>
  <x-choice><label slot="label" id="company-words">Company</label>
  <div slot="value" role="button" tabindex="0" aria-haspopup="listbox" aria-labelledby="company-words company"><b id="company">Choose</b></div>
  <div slot="list" role="listbox"><div role="option">Harbour</div><div role="option">Yard</div></div></x-choice>
  <label>User <input name="user"></label><label>Password <input type="password" name="pass"></label><button>Log on</button></form>
  <script>
    customElements.define('x-choice', class extends HTMLElement {
      connectedCallback() {
        this.attachShadow({ mode: 'open' }).innerHTML = '<slot name="label"></slot><slot name="value"></slot><div id="over" hidden><slot name="list"></slot></div>';
        const over = this.shadowRoot.getElementById('over');
        this.onclick = ({ target }) => {
          if (target.role === 'option') company.textContent = target.textContent;
          over.hidden = !over.hidden;
        };
      }
    });
    customElements.define('x-list', class extends HTMLElement {
      static formAssociated = true;
      value = '';
      connectedCallback() {
        const inside = this.attachInternals();
        const root = this.attachShadow({ mode: 'open' });
        root.innerHTML = '<style>#list { position: absolute; background: white; width: 300px; height: 200px }</style><label id="words">' + this.getAttribute('label') + '</label>' +
          '<div><input readonly role="combobox" aria-labelledby="words" aria-controls="list"></div><div role="listbox" id="list" hidden><slot></slot></div>';
        const [field, list] = [root.querySelector('input'), root.getElementById('list')];
        field.onclick = () => { list.hidden = !list.hidden; };
        list.onclick = ({ target }) => {
          field.value = target.textContent;
          this.value = target.id;
          inside.setFormValue(this.value);
          list.hidden = true;
        };
      }
    });
    realm.onclick = () => setTimeout(() => { realms.hidden = false; }, 50);
    realms.onclick = ({ target }) => { realm.textContent = target.textContent; realms.hidden = true; };
  </script>`;
const FORM = `<label>User <input name='user'></label><label>Password <input type='password' name='pass'></label><button>Sign in</button>`;
const FRAMES = `<!doctype html><title>Frames</title>
  <iframe id="written" width="500" height="100"></iframe>
  <iframe id="srcdoc" width="500" height="100" srcdoc="<form>${FORM}</form>"></iframe>
  <iframe id="foreign" width="500" height="200" src="http://127.0.0.1:{port}/foreign"></iframe>
  <script>document.getElementById('written').contentDocument.body.innerHTML = '<p>Welcome</p>';</script>`;
/** Draws its field anew between the keys that mark what is in it and the key that takes it away. */
const REDRAWN = `<!doctype html><title>Sign in</title><form><input name="user" value="ann"><input type="password"><button>Sign in</button></form>
  <script>document.addEventListener('keyup', ({ key, target }) => {
    if (key !== 'a' || target.value !== 'ann' || window.drawn) return;
    window.drawn = true;
    const next = target.cloneNode();
    target.replaceWith(next);
    next.focus();
  });</script>`;
/** Boxes of a PIN: the first form moves the focus on, away from them after the last; the second leaves it, and holds an earlier PIN. */
const PIN_BOXES = ['', '9'].map(
  (
    value,
  ) => `<form><h2>Enter your PIN</h2><label>User <input name="user"></label><div>${'<input type="password" maxlength="1" name="digit" value="9">'.replace('9', value).repeat(4)}</div>
    <label>Search <input type="search" name="q"></label><button>Sign in</button></form>`,
);
const MOVES_ON = `<script>document.forms[0].oninput = ({ target }) => {
  const inputs = [...document.forms[0].elements];
  inputs[inputs.indexOf(target) + 1].focus();
};</script>`;

/** Moves the focus to the next box a moment after a digit, and does not if one was deleted before. Shows each complete code. */
const BOXES = `<!doctype html><title>Verify</title><h1>Enter the code we texted you</h1><div id="boxes"></div><ol id="codes"></ol>
  <script>
    for (let n = 0; n < 4; n += 1) boxes.insertAdjacentHTML('beforeend', '<input inputmode="numeric" size="1">');
    const all = [...boxes.children];
    let moves = true;
    boxes.addEventListener('keydown', ({ key }) => { if (key === 'Backspace') moves = false; });
    boxes.addEventListener('input', ({ target, data }) => {
      if (data === null) return;
      target.value = data;
      if (moves) setTimeout(() => all[all.indexOf(target) + 1]?.focus(), 20);
      moves = true;
      if (all.every(({ value }) => value !== ''))
        codes.insertAdjacentHTML('beforeend', '<li>' + all.map(({ value }) => value).join('') + '</li>');
    });
  </script>`;

let service: ServiceUnderTest;
let site: Site;
let browser: Browser;
let page: Page;
let endSession: () => Promise<void>;
let pageInput: PageInput;
let caller: BrowserService;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({
    '/lists': LISTS,
    '/drawn-lists': DRAWN_LISTS,
    '/redrawn': REDRAWN,
    '/boxes-moving-on': `<!doctype html><title>Sign in</title>${PIN_BOXES[0] ?? ''}${MOVES_ON}`,
    '/boxes-filled': `<!doctype html><title>Sign in</title>${PIN_BOXES[1] ?? ''}`,
    '/boxes': BOXES,
    '/frames': (_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(FRAMES.replace('{port}', String(site.port)));
    },
    '/foreign': '<iframe id="inner" width="400" height="100" srcdoc="<p>An advertisement</p>"></iframe>',
  });
  const project = { headers: { 'x-kernel-project-id': 'p' } };
  const session = await service.kernel.browsers.create({ timeout_seconds: 300 }, project);
  endSession = () => service.kernel.browsers.deleteByID(session.session_id, project);
  browser = await chromium.connectOverCDP(session.cdp_ws_url);
  page = browser.contexts()[0]?.pages()[0] as Page;
  caller = createBrowserService({ baseUrl: service.handle.url, apiKey: API_KEY });
  pageInput = { page, service: caller, computer: { projectId: 'p', sessionId: session.session_id } };
});
afterAll(async () => {
  await browser.close();
  await endSession();
  await caller.close();
  site.close();
});

it('chooses from a list by label, also if the label does not begin with the answer', async () => {
  await page.goto(`${site.origin}/lists`);
  const { fields } = await readWhenSettled(page);
  const answers: Record<string, string> = { user: 'alice', pass: 'secret', domain: 'Sales West', realm: 'o' };
  for (const field of fields) await fillField(pageInput, field, answers[field.name] ?? '');
  const sent = await page.evaluate(() =>
    ['user', 'pass', 'domain', 'realm'].map((name) => new FormData(document.forms[0]).get(name)),
  );
  expect(sent).toEqual(['alice', 'secret', 's', 'o']);
});

it('chooses from scripted lists and fills in fields below them', async () => {
  await page.goto(`${site.origin}/drawn-lists`);
  const { fields } = await readWhenSettled(page);
  expect(fields.map(({ label, hint, required }) => [label, hint, required])).toEqual([
    ['Tenant', 'North / North Sea', true],
    ['Realm', 'One / Two', false],
    ['Company', 'Harbour / Yard', true],
    ['User', null, true],
    ['Password', null, true],
  ]);
  const answers: Record<string, string> = {
    Tenant: 'North Sea',
    Realm: 'Two',
    Company: 'Yard',
    User: 'alice',
    Password: 'secret',
  };
  for (const field of fields) await fillField(pageInput, field, answers[field.label] ?? '');
  const sent = await page.evaluate(() =>
    ['tenant', 'user', 'pass'].map((name) => new FormData(document.forms[0]).get(name)),
  );
  expect(sent).toEqual(['s', 'alice', 'secret']);
  expect(await page.textContent('#realm')).toBe('Two');
  expect(await page.textContent('#company')).toBe('Yard');
  const [list] = fields;
  if (list === undefined) throw new Error('the list was not read');
  await expect(fillField(pageInput, list, 'Elsewhere')).rejects.toThrow('does not contain the answer');
});

it('replaces the text of a field that is rendered anew while typing', async () => {
  await page.goto(`${site.origin}/redrawn`);
  const [user] = (await readWhenSettled(page)).fields;
  if (user !== undefined) await fillField(pageInput, user, 'bob');
  expect(await page.inputValue('[name=user]')).toBe('bob');
});

it.each(['/boxes-moving-on', '/boxes-filled'])('types a PIN over its boxes: %s', async (path) => {
  await page.goto(site.origin + path);
  const pin = (await readWhenSettled(page)).fields.find(({ type }) => type === 'password');
  if (pin === undefined) throw new Error('the PIN was not read');
  const typed = () =>
    page
      .locator('[name=digit], [name=q]')
      .evaluateAll((all) => all.map((each) => (each instanceof HTMLInputElement ? each.value : '')));
  await fillField(pageInput, pin, '4711');
  expect(await typed()).toEqual(['4', '7', '1', '1', '']);
  await fillField(pageInput, pin, '');
  expect(await typed()).toEqual(['', '', '', '', '']);
});

it('enters a date in the order that is asked for', async () => {
  await page.goto(`${site.origin}/lists`);
  const born = (await readWhenSettled(page)).fields.find(({ name }) => name === 'born');
  if (born !== undefined) await fillField(pageInput, born, '1990-05-12');
  expect([born?.hint, await page.inputValue('[name=born]')]).toEqual(['YYYY-MM-DD', '1990-05-12']);
});

it('fills in the boxes of a code, and again after it was refused', async () => {
  await page.goto(`${site.origin}/boxes`);
  const [code] = (await readWhenSettled(page)).fields;
  if (code === undefined) throw new Error('the boxes were not read');
  expect(code.boxes).toBe(4);
  await fillField(pageInput, code, '1234');
  await fillField(pageInput, code, '5678');
  expect(await page.locator('li').allTextContents()).toEqual(['1234', '5678']);
});

it('rejects an answer that a list does not contain', async () => {
  await page.goto(`${site.origin}/lists`);
  const list = (await readWhenSettled(page)).fields.find(({ name }) => name === 'domain');
  if (list === undefined) throw new Error('the list was not read');
  await expect(fillField(pageInput, list, 'Elsewhere')).rejects.toThrow('does not contain the answer');
});

it('attributes a frame without a URL to the site that wrote it', async () => {
  await page.goto(`${site.origin}/frames`);
  await readWhenSettled(page);
  const egress = createEgressPolicy(`localhost:${site.port},127.0.0.1:${site.port}`);
  const mayType = async (...path: string[]): Promise<boolean> => {
    const frame = await resolveFrame(page, { selector: 'body', frame: path });
    const own = `localhost:${site.port}`;
    return mayTypeInto(authorUrl(frame), { domain: own, allowedDomains: [own] }, egress);
  };
  expect(await mayType('#written')).toBe(true);
  expect(await mayType('#srcdoc')).toBe(true);
  expect(await mayType('#foreign')).toBe(false);
  expect(await mayType('#foreign', '#inner')).toBe(false);
});

it('fills in a form in a frame written by the page', async () => {
  await page.goto(`${site.origin}/frames`);
  const { fields } = await readWhenSettled(page);
  expect(fields.map(({ type, frame }) => `${frame.join()} ${type}`)).toEqual([
    '#srcdoc identifier',
    '#srcdoc password',
  ]);
  for (const field of fields) await fillField(pageInput, field, 'something');
  const frame = await resolveFrame(page, { selector: 'form', frame: ['#srcdoc'] });
  expect(await frame.locator('[name=pass]').inputValue()).toBe('something');
});
