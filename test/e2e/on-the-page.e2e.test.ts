import { type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PHONE } from '../hosted/visit.ts';
import { startInstallation, type Installation } from './installation.ts';
import { newPerson, type Person } from './person.ts';
import { until } from './until.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

let on: Installation;
let browser: Browser;
beforeAll(async () => {
  on = await startInstallation({ captchaKey: 'right' });
  browser = await openViewer();
});
afterAll(async () => {
  await closeViewer(browser);
  await on.close();
});

/** A login that needs a person on a page of the practice site, opened on the hosted page. */
async function before(path: string, options: BrowserContextOptions) {
  const person = await newPerson(on, { login_url: on.practice.page(path) });
  await person.login();
  return { person, ...(await atPicture(person, path, options)) };
}

/** The live picture of the login's page. `prepare` brings a reference copy of the page into the same state. */
async function atPicture(
  person: Person,
  path: string,
  options: BrowserContextOptions,
  prepare = async (_own: Page): Promise<void> => undefined,
) {
  const pause = await person.waitForExternalAction();
  expect(pause).toMatchObject({ fields: [], choices: [], live_view_url: expect.any(String) as unknown });
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto(String(pause.live_view_url));
  const canvas = page.locator('canvas.picture');
  await until(
    'the picture of the page',
    () => canvas.evaluate((element) => (element instanceof HTMLCanvasElement ? element.width : 0)),
    (width) => width === 1280,
  );
  // Positions come from a reference copy of the page, at the size of a login's browser.
  const own = await context.newPage();
  await own.setViewportSize({ width: 1280, height: 800 });
  await own.goto(on.practice.page(path));
  await prepare(own);
  /** Position of an element on the person's screen, offset by `left` page pixels from its center. */
  const at = async (selector: string, left = 0): Promise<[number, number]> => {
    const [box, picture] = [await own.locator(selector).boundingBox(), await canvas.boundingBox()];
    if (box === null || picture === null) throw new Error(`${selector} is not shown at ${path}`);
    const scale = picture.width / 1280;
    return [picture.x + (box.x + box.width / 2 + left) * scale, picture.y + (box.y + box.height / 2) * scale];
  };
  /** Center of an element on the site's page. */
  const onPage = async (selector: string): Promise<{ x: number; y: number }> => {
    const box = await own.locator(selector).boundingBox();
    if (box === null) throw new Error(`${selector} is not shown at ${path}`);
    return { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
  };
  await page.bringToFront();
  return { page, context, at, onPage };
}

/** Status of a call made by the hosted page. */
function ask(page: Page, path: string, init: object = {}): Promise<number> {
  const call = `(path, init) => fetch(location.pathname + path, { ...init, headers: { 'x-holdfast-page': '1', 'content-type':
    'application/json' } }).then(({ status }) => status)`;
  return page.evaluate<number>(`(${call})('${path}', ${JSON.stringify(init)})`);
}

/** Expects the hosted page to ask for the password and hide the site. */
async function goesOn(person: Person, page: Page): Promise<void> {
  await person.waitForInput();
  await page.locator('input[type=password]').waitFor();
  expect(await page.locator('canvas.picture').count()).toBe(0);
  expect(await ask(page, '/picture')).toBe(404);
  const pick = { actions: [{ do: 'pick', value: '1', after_ms: 0 }] };
  expect(await ask(page, '/hands', { method: 'POST', body: JSON.stringify(pick) })).toBe(404);
  await page.context().close();
  await on.kernel.auth.connections.delete(person.id);
}

test('a person presses and holds by mouse, and links are blocked', async () => {
  const { person, page, at } = await before('/login/press-and-hold', { viewport: { width: 1400, height: 1200 } });
  await page.mouse.click(...(await at('a')));
  await page.mouse.move(...(await at('#hold')));
  await page.mouse.down();
  await goesOn(person, page);
});

test('a person drags a piece into place by touch', async () => {
  const { person, page, context, at } = await before('/login/drag-puzzle', PHONE);
  const cdp = await context.newCDPSession(page);
  const touch = async (type: 'touchStart' | 'touchMove' | 'touchEnd', [x, y]: [number, number]): Promise<void> => {
    await cdp.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
  };
  await touch('touchStart', await at('#piece'));
  for (let left = 20; left <= 200; left += 20) await touch('touchMove', await at('#piece', left));
  await touch('touchEnd', await at('#piece', 200));
  await goesOn(person, page);
});

test('a person selects options, picks a date and types on a phone, and no option leads off the site', async () => {
  const { person, page, at } = await before('/login/questions', PHONE);
  await page.touchscreen.tap(...(await at('#fruit')));
  const list = page.getByLabel('Which one is a fruit?');
  await list.selectOption('More about fruit');
  await list.selectOption('Apple');
  await page.touchscreen.tap(...(await at('#eve')));
  await page.getByLabel('Christmas Eve of 2026').fill('2026-12-24');
  await page.touchscreen.tap(...(await at('#word')));
  const keys = page.locator('.picture-keys[inputmode=text]');
  await keys.waitFor();
  // Like an input method, which replaces the typed letters.
  await page.keyboard.type('grosx');
  await page.keyboard.press('Backspace');
  const cdp = await page.context().newCDPSession(page);
  await page.keyboard.press('Backspace');
  await cdp.send('Input.imeSetComposition', { text: 's', selectionStart: 1, selectionEnd: 1 });
  await cdp.send('Input.imeSetComposition', { text: 'ß', selectionStart: 1, selectionEnd: 1 });
  await cdp.send('Input.insertText', { text: 'ß' });
  await page.touchscreen.tap(...(await at('#done')));
  await goesOn(person, page);
});

test('input of one call is executed in order, including selections between clicks', async () => {
  const { person, page, onPage } = await before('/login/questions', PHONE);
  const tap = async (selector: string): Promise<object[]> => {
    const place = await onPage(selector);
    return ['down', 'up'].map((how) => ({ do: how, ...place, after_ms: 0 }));
  };
  const actions = [
    ...(await tap('#fruit')),
    { do: 'pick', value: '2', after_ms: 0 },
    ...(await tap('#eve')),
    { do: 'pick', value: '2026-12-24', after_ms: 0 },
    ...(await tap('#word')),
    { do: 'type', text: 'groß', after_ms: 0 },
    ...(await tap('#done')),
  ];
  expect(await ask(page, '/hands', { method: 'POST', body: JSON.stringify({ actions }) })).toBe(200);
  await goesOn(person, page);
});

test('a solver answers a widget without a person, and telemetry records it', async () => {
  const { username, password } = on.practice.user('alice');
  const { name } = await on.kernel.credentials.create({
    name: 'behind a captcha',
    domain: on.practice.domain,
    values: { username, password },
  });
  const person = await newPerson(on, {
    login_url: on.practice.page('/login/captcha-widget'),
    credential: { name },
    browser_telemetry: { enabled: true },
  });
  await person.login();
  const told = await person.followToEnd();
  expect(told.at(-1)).toMatchObject({ flow_status: 'SUCCESS' });
  expect(told.map(({ flow_step: step }) => step)).not.toContain('AWAITING_EXTERNAL_ACTION');
  const { items } = await on.kernel.auth.connections.timeline(person.id);
  const session = String(items[0]?.browser_session_id);
  const events = await on.kernel.browsers.telemetry.events(session, { category: ['captcha'], limit: 100, since: '1h' });
  const solves = events
    .getPaginatedItems()
    .map(({ event }) => event)
    .filter(({ type }) => type.startsWith('captcha_solve'));
  const about = { captcha_type: 'turnstile', website_host: on.practice.domain, website_path: '/login/captcha-widget' };
  expect(solves).toMatchObject([
    { type: 'captcha_solve_started', category: 'captcha', data: about },
    { type: 'captcha_solve_result', category: 'captcha', data: { ...about, status: 'success' } },
  ]);
});

const BESIDE = '/login/captcha-beside';

/** A connection with a stored credential, at the page with a CAPTCHA beside its fields. */
async function stored(name: string): Promise<Person> {
  const { username, password } = on.practice.user(name);
  const values = { username, password };
  const saved = await on.kernel.credentials.create({ name: `${name} beside`, domain: on.practice.domain, values });
  return await newPerson(on, { login_url: on.practice.page(BESIDE), credential: { name: saved.name } });
}

test('a person ticks the box beside the fields, after which the stored password is submitted once', async () => {
  await on.practice.setCaptcha('keyless');
  const person = await stored('bob');
  await person.login();
  const { page, context, at } = await atPicture(person, BESIDE, PHONE);
  expect(await on.practice.counts('bob')).toMatchObject({ passwords: 0 });
  await page.touchscreen.tap(...(await at('#tick')));
  await person.waitForSuccess();
  expect(await on.practice.counts('bob')).toMatchObject({ passwords: 1, accepted: 1 });
  await context.close();
});

test('a box that appears while the password is typed is ticked first, and nothing is requested again', async () => {
  await on.practice.setCaptcha('typed');
  const person = await newPerson(on, { login_url: on.practice.page(BESIDE) });
  await person.login();
  await person.waitForInput();
  const { username, password } = on.practice.user('carol');
  await person.answer({ identifier: username, password });
  const show = (own: Page): Promise<void> => own.locator('#password').pressSequentially('x');
  const { page, context, at } = await atPicture(person, BESIDE, PHONE, show);
  expect(await on.practice.counts('carol')).toMatchObject({ passwords: 0 });
  await page.touchscreen.tap(...(await at('#tick')));
  await person.waitForSuccess();
  expect(await on.practice.counts('carol')).toMatchObject({ passwords: 1, accepted: 1 });
  await context.close();
});

test('a box beside the fields that a solver answers needs no person', async () => {
  await on.practice.setCaptcha('tick');
  const person = await stored('dave');
  await person.login();
  const told = await person.followToEnd();
  expect(told.at(-1)).toMatchObject({ flow_status: 'SUCCESS' });
  expect(told.map(({ flow_step: step }) => step)).not.toContain('AWAITING_EXTERNAL_ACTION');
  expect(await on.practice.counts('dave')).toMatchObject({ passwords: 1, accepted: 1 });
});
