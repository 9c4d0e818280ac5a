import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readWhenSettled, readWithReasons } from '../../activities/login/reading/read-page.ts';
import { forceOpenShadowRoots } from '../../activities/login/reading/shadow-roots.ts';
import { PageReading, type ReadChoice, type ReadField } from '../../contract/reading.ts';
import { expectedOf, fixtureNames, serveFixtures } from './fixtures.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';
import type { Candidates } from '../../reader/form/candidates.ts';

/** Vitest's own number of tests at once. */
const AT_ONCE = 5;
let browser: Browser;
/** Pages that nothing is read in now: one that goes on to the next fixture costs a fifth of a new one. */
const idle: Page[] = [];
let server: Awaited<ReturnType<typeof serveFixtures>>;

beforeAll(async () => {
  server = await serveFixtures();
  browser = await openViewer();
  idle.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => browser.newPage()))));
});
afterAll(async () => {
  await closeViewer(browser);
  await server.close();
});

// Most of a reading is waiting for a page to come to rest.
describe.concurrent('login pages of real applications', () => {
  it.each(fixtureNames())('%s', async (name) => {
    const expected = expectedOf(name);
    const page = idle.pop() ?? (await browser.newPage());
    try {
      await page.goto(`${server.url}/${name}`);
      const reading = await readWhenSettled(page, { patienceMs: 3_000 });
      PageReading.parse(reading);
      expect({
        kind: reading.kind,
        fields: reading.fields.map((field) => field.type + (field.boxes > 1 ? `*${field.boxes}` : '')),
        choices: reading.choices.map(shortly).sort(),
        error: reading.website_error,
        hasSubmit: reading.submit !== null,
      }).toEqual({
        kind: expected.kind,
        fields: expected.fields.map((field) => field.split(' ')[0]),
        choices: [...expected.choices].sort(),
        error: expected.error,
        hasSubmit: expected.submit !== null,
      });
      if (expected.labels) expect(reading.fields.map(({ label }) => label)).toEqual(expected.labels);
      if (expected.hints) expect(reading.fields.map(({ hint }) => hint)).toEqual(expected.hints);
      await expectSameElements(page, reading.fields, expected.fields);
      if (reading.submit && expected.submit) await expectSame(page, reading.submit, expected.submit);
      for (const choice of reading.choices) await expectOne(page, choice);
      expect(reading.sign_in_link?.href?.replace(server.url, '') ?? null).toBe(
        expected.link ??
          (expected.kind === 'form' ? null : (reading.sign_in_link?.href?.replace(server.url, '') ?? null)),
      );
    } finally {
      idle.push(page);
    }
  });
});

it('gives a field the same selector at every load, although its id is generated each time', async () => {
  const page = await browser.newPage();
  const selectorsOf = async (suffix: string): Promise<string[]> => {
    await page.setContent(`<title>Login</title><form>
      <label>Username <input name="username" id="form_username-${suffix}"></label>
      <label>Password <input name="password" type="password" id="form_password-${suffix}"></label>
      <button name="go" id="form_go-${suffix}">Login</button></form>`);
    const { fields, submit } = await readWhenSettled(page);
    return [...fields, ...(submit ? [submit] : [])].map(({ selector }) => selector);
  };
  try {
    expect(await selectorsOf('wvxuezlfymck')).toEqual(await selectorsOf('qhbtrsaxoodn'));
  } finally {
    await page.close();
  }
});

it('reads closed shadow roots and locates their fields, regardless of the content security policy', async () => {
  const context = await browser.newContext();
  try {
    await forceOpenShadowRoots(context);
    await context.route('https://closed.test/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        headers: {
          'content-security-policy': "default-src 'none'; script-src 'nonce-a'; require-trusted-types-for 'script'",
        },
        body: `<title>Log in</title><login-box></login-box><script nonce="a">
          const add = (to, name, more) => to.appendChild(Object.assign(document.createElement(name), more));
          const outer = document.querySelector('login-box').attachShadow({ mode: 'closed' });
          const inner = add(outer, 'div', {}).attachShadow({ mode: 'closed' });
          add(inner, 'input', { name: 'user', placeholder: 'User name' });
          add(inner, 'input', { name: 'secret', type: 'password', placeholder: 'Password' });
          add(outer, 'button', { textContent: 'Log in' });
        </script>`,
      }),
    );
    const page = await context.newPage();
    await page.goto('https://closed.test/');
    const { fields, submit } = await readWhenSettled(page);
    expect(fields.map(({ type }) => type)).toEqual(['identifier', 'password']);
    for (const each of [...fields, ...(submit ? [submit] : [])]) await expectOne(page, each);
    expect(submit).not.toBeNull();
    expect(await page.evaluate('Element.prototype.attachShadow.toString()')).toContain('[native code]');
  } finally {
    await context.close();
  }
});

it('reads nested declarative closed shadow roots, and types into their fields', async () => {
  const page = await browser.newPage();
  try {
    await page.route('https://declared.test/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<title>Harbour</title><h1>Log in</h1><login-box><template shadowrootmode="closed">
          <p><input name="user" placeholder="User name"></p>
          <secret-box><template shadowrootmode="closed"><input name="secret" type="password" placeholder="Password"></template></secret-box>
          <button>Log in</button></template></login-box><script>window.host = document.querySelector('login-box');</script>`,
      }),
    );
    await page.goto('https://declared.test/');
    expect(await page.evaluate('window.host.shadowRoot')).toBeNull();
    const { fields, submit } = await readWhenSettled(page);
    expect(fields.map(({ type }) => type)).toEqual(['identifier', 'password']);
    for (const each of [...fields, ...(submit ? [submit] : [])]) await expectOne(page, each);
    expect(submit).not.toBeNull();
    const secret = page.locator(fields[1]?.selector ?? '');
    await secret.click();
    await page.keyboard.type('typed into a closed root');
    expect(await secret.inputValue()).toBe('typed into a closed root');
  } finally {
    await page.close();
  }
});

it('uses the form that a model picks among similar ones, and its own choice if it picks none', async () => {
  const page = await browser.newPage();
  try {
    const form = (name: string) =>
      `<h2>${name}</h2><form><input name="${name}"><input name="${name}_secret" type="password"><button>Sign in</button></form>`;
    await page.setContent(`<title>Harbour</title>${form('partner')}${form('member')}`);
    const read = async (choose: (keys: string[]) => string | undefined) => {
      const model = { choose: ({ forms }: Candidates) => Promise.resolve(choose(forms.map(({ key }) => key)) ?? null) };
      const { reading, reasons } = await readWithReasons(page, { model });
      return { first: reading.fields[0]?.name, said: reasons[0]?.why, byModel: reading.by_model === true };
    };
    expect(await read((keys) => keys[1])).toEqual({ first: 'member', said: 'chose among 2 forms', byModel: true });
    expect(await read(() => undefined)).toEqual({ first: 'partner', said: 'gave no usable answer', byModel: false });
  } finally {
    await page.close();
  }
});

it('distinguishes HTTP authentication from an outage', async () => {
  const locked = createServer((_request, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="Box"' }).end('401: Unauthorized');
  });
  await new Promise<void>((resolve) => locked.listen(0, '127.0.0.1', resolve));
  // A login's own kind of browser: without windows Chromium shows what the site says beside its refusal.
  const windowed = await chromium.launch({ executablePath: inject('chromiumPath'), args: ['--no-sandbox'] });
  const page = await windowed.newPage();
  try {
    const { port } = locked.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/`).catch(() => null);
    expect((await readWhenSettled(page, { patienceMs: 500 })).kind).toBe('http_login');
  } finally {
    await windowed.close();
    locked.close();
  }
});

function shortly(choice: ReadChoice): string {
  const detail = choice.provider ?? choice.mfa_type;
  return detail ? `${choice.type} ${detail}` : choice.type;
}

async function expectSameElements(
  page: Page,
  fields: readonly ReadField[],
  expected: readonly string[],
): Promise<void> {
  for (const [index, field] of fields.entries()) {
    const selector = expected[index]?.split(' ').slice(1).join(' ');
    if (selector) await expectSame(page, field, selector);
  }
}

/** The selector of the reading must name one element, the expected one (given as `frame >> selector` inside a frame). */
async function expectSame(page: Page, read: { selector: string; frame: string[] }, expected: string): Promise<void> {
  const handle = await expectOne(page, read);
  const path = expected.split(' >> ');
  const wanted = await locate(page, path.at(-1) ?? '', path.slice(0, -1))
    .first()
    .elementHandle();
  const same = await handle.evaluate((element, other) => element === other, wanted);
  expect(same, `${read.selector} should be ${expected}`).toBe(true);
}

async function expectOne(page: Page, read: { selector: string; frame: string[] }) {
  const locator = locate(page, read.selector, read.frame);
  expect(await locator.count(), `elements of ${read.selector}`).toBe(1);
  return locator.elementHandle();
}

function locate(page: Page, selector: string, frame: readonly string[]) {
  let scope: Pick<Page, 'locator' | 'frameLocator'> = page;
  for (const each of frame) scope = scope.frameLocator(each);
  return scope.locator(selector);
}
