import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { afterAll, describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

const SHOWN = `<title>Shown &lt;b&gt;page</title>
<body style="margin:0;height:3000px;background:#124">
<input id=a style="position:absolute;left:50px;top:50px;width:300px;height:40px">
<button id=b style="position:absolute;left:50px;top:150px;width:200px;height:50px" onclick="said = prompt('Your <i>name</i>?', 'nobody')">ask</button>
<script>said = null; seen = []; for (const type of ['click', 'dblclick', 'contextmenu', 'auxclick'])
addEventListener(type, (event) => { if (type !== 'click') event.preventDefault(); seen.push([type, event.clientX, event.clientY, event.shiftKey]); });</script>`;

let service: ServiceUnderTest;
let site: Site;
let viewers: Browser;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({ '/': SHOWN });
  viewers = await openViewer();
});
afterAll(async () => {
  await closeViewer(viewers);
  site.close();
});

/** A session that shows the page, and a viewer's browser. */
async function watch({ headless = false, ...options }: { hasTouch?: boolean; headless?: boolean } = {}) {
  const session = await service.kernel.browsers.create({
    headless,
    timeout_seconds: 300,
    telemetry: { enabled: true },
    viewport: { width: 800, height: 600 },
  });
  const client = await chromium.connectOverCDP(session.cdp_ws_url, { noDefaults: true });
  const shown = client.contexts()[0]?.pages()[0];
  if (shown === undefined) throw new Error('no page');
  // Without a listener, Playwright answers dialogs by itself.
  shown.on('dialog', () => {});
  await shown.goto(`${site.origin}/`);
  const context = await viewers.newContext({ viewport: { width: 1000, height: 800 }, ...options });
  const person = await context.newPage();
  const faults: string[] = [];
  person.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  person.on('pageerror', (error) => void faults.push(error.message));
  await person.goto(session.browser_live_view_url ?? '');
  const canvas = person.locator('canvas');
  await canvas.waitFor({ state: 'visible' });
  /** The viewer's screen position of a point on the page. */
  const at = async (x: number, y: number): Promise<[number, number]> => {
    const box = await canvas.boundingBox();
    if (box === null) throw new Error('no picture');
    return [box.x + (x / 800) * box.width, box.y + (y / 600) * box.height];
  };
  const stop = async (): Promise<void> => {
    await context.close();
    await client.close();
    await service.kernel.browsers.deleteByID(session.session_id).catch(() => undefined);
  };
  return { session, shown, person, faults, at, stop };
}

const evaluate = <T>(page: Page, expression: string): Promise<T> => page.evaluate<T>(expression);

describe('the live view', () => {
  it.each([false, true])('shows the page and takes mouse and keyboard input (headless %s)', async (headless) => {
    const { session, shown, person, faults, at, stop } = await watch({ headless });
    await person.mouse.click(...(await at(100, 70)));
    await person.keyboard.type('Ab 1!');
    await person.keyboard.press('Backspace');
    await person.keyboard.insertText('語😀');
    await eventually(async () => expect(await shown.inputValue('#a')).toBe('Ab 1語😀'));

    await person.mouse.dblclick(...(await at(400, 300)));
    await person.mouse.click(...(await at(410, 310)), { button: 'right' });
    await eventually(async () => {
      const seen = await evaluate<[string, number, number, boolean][]>(shown, 'seen');
      expect(seen.map(([type]) => type)).toEqual(['click', 'click', 'click', 'dblclick', 'contextmenu', 'auxclick']);
      for (const [, x, y] of seen.slice(3, 4))
        expect([Math.abs(x - 400) < 2, Math.abs(y - 300) < 2]).toEqual([true, true]);
    });
    await person.mouse.wheel(0, 240);
    await eventually(async () => expect(await evaluate(shown, 'scrollY')).toBe(240));

    // The frame shows the page: its background is where it should be.
    const colour = await person.evaluate(() => {
      const view = document.querySelector('canvas');
      return Array.from(view?.getContext('2d')?.getImageData(600, 500, 1, 1).data ?? []);
    });
    expect(colour.map((value, index) => Math.abs(value - ([17, 34, 68, 255][index] ?? 0)) < 12)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(await person.locator('.title').textContent()).toBe('Shown <b>page');
    expect(await person.title()).toBe('Shown <b>page · Holdfast');

    // The token is no longer in the address bar, and nothing violated the content security policy.
    expect(person.url()).not.toContain('jwt');
    expect(faults).toEqual([]);

    await expect(
      service.kernel.browsers.update(session.session_id, { viewport: { width: 640, height: 480 } }),
    ).rejects.toMatchObject({ status: 422 });
    await service.kernel.browsers.update(session.session_id, { viewport: { width: 640, height: 480, force: true } });
    await service.kernel.browsers.deleteByID(session.session_id);
    await person.getByText('The session has ended.').waitFor();
    await stop();
  });

  it('lets the viewer answer dialogs of the page', async () => {
    const { shown, person, at, stop } = await watch();
    await person.mouse.click(...(await at(100, 170)));
    const dialog = person.getByRole('alertdialog');
    await dialog.waitFor();
    expect(await dialog.locator('.words').textContent()).toBe('Your <i>name</i>?');
    await dialog.getByRole('textbox').fill('Zoë');
    await dialog.getByRole('button', { name: 'OK' }).click();
    await eventually(async () => expect(await evaluate(shown, 'said')).toBe('Zoë'));
    await stop();
  });

  it('takes touch input: a tap clicks, and moving a finger scrolls', async () => {
    const { session, shown, person, at, stop } = await watch({ hasTouch: true });
    await person.touchscreen.tap(...(await at(100, 70)));
    await person.keyboard.insertText('touch');
    await eventually(async () => expect(await shown.inputValue('#a')).toBe('touch'));
    const cdp = await person.context().newCDPSession(person);
    const [x, y] = await at(400, 400);
    await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
    for (const step of [40, 80, 120]) {
      await cdp.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x, y: y - step }] });
    }
    await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await eventually(async () => expect(await evaluate<number>(shown, 'scrollY')).toBeGreaterThan(60));
    await person.close();
    await eventually(async () => {
      const events = await service.kernel.browsers.telemetry.events(session.session_id, { limit: 100 });
      const types = events.getPaginatedItems().map(({ event }) => event.type);
      expect(types).toEqual(expect.arrayContaining(['live_view_connect', 'live_view_disconnect']));
    });
    await stop();
  });

  it('opens only with its own token', async () => {
    const headless = await service.kernel.browsers.create({ headless: true });
    const { session, person, stop } = await watch();
    const url = session.browser_live_view_url ?? '';
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/browsers\/brw_\w+\/live\?jwt=/);
    const token = (from: string): string => new URL(from).searchParams.get('jwt') ?? '';
    const page = new URL(url);
    page.searchParams.set('jwt', token(session.cdp_ws_url));
    expect((await fetch(page)).status).toBe(401);
    page.searchParams.delete('jwt');
    expect((await fetch(page)).status).toBe(401);
    const other = url.replace(session.session_id, headless.session_id);
    expect((await fetch(other)).status).toBe(401);
    const answer = await fetch(url);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'nonce-[\w+/=]+'; style-src 'nonce-[\w+/=]+'; connect-src 'self'/,
    );
    expect(policy).not.toContain('unsafe');
    expect([answer.headers.get('referrer-policy'), answer.headers.get('cache-control')]).toEqual([
      'no-referrer',
      'no-store',
    ]);

    // An invalid message closes the connection, and nothing else.
    const socket = new WebSocket(url.replace(/^http/, 'ws'));
    await new Promise((resolve) => socket.once('open', resolve));
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    socket.send('{"type":"press","x":1e9}');
    expect(await closed).toBe(1008);
    expect(await person.locator('.state').textContent()).toBe('Live');
    await service.kernel.browsers.deleteByID(headless.session_id);
    await stop();
  });
});
