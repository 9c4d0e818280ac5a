import { PNG_SIGNATURE, pngSize } from './png.ts';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { containing, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

/** Records what a page sees of keys and mouse. */
const RECORDER = `<!doctype html><style>body{margin:0;height:3000px}input,textarea{position:absolute;left:50px;width:300px}</style>
<input id=a style="top:50px"><input id=b style="top:90px"><textarea id=t style="top:130px"></textarea>
<div id=box style="position:absolute;left:400px;top:50px;width:200px;height:200px;background:#ccc"></div>
<script>
window.seen = [];
const modifiers = (e) => (e.altKey ? 'A' : '') + (e.ctrlKey ? 'C' : '') + (e.metaKey ? 'M' : '') + (e.shiftKey ? 'S' : '');
for (const type of ['keydown', 'keyup']) addEventListener(type, (e) => seen.push([type, e.key, e.code, e.keyCode, modifiers(e), e.isTrusted]));
for (const type of ['mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'auxclick'])
  addEventListener(type, (e) => { seen.push([type, e.clientX, e.clientY, e.button, e.detail, modifiers(e), e.isTrusted]); if (type === 'contextmenu') e.preventDefault(); });
window.moves = [];
addEventListener('mousemove', (e) => moves.push([e.clientX, e.clientY, e.buttons]));
addEventListener('wheel', (e) => seen.push(['wheel', e.deltaX, e.deltaY]));
</script>`;

let service: ServiceUnderTest;
let site: Site;
let id: string;
let browser: Browser;
let page: Page;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({
    '/': RECORDER,
    '/alert':
      '<button style="position:absolute;left:10px;top:10px;width:100px;height:40px" onclick="document.title = String(confirm(1))">go</button>',
    '/drag': `<div id=card draggable=true style="width:80px;height:80px;background:red">card</div>
      <div id=zone style="position:absolute;left:300px;top:300px;width:200px;height:200px;background:#ddd"></div>
      <script>card.ondragstart = (e) => e.dataTransfer.setData('text/plain', 'the card');
      zone.ondragover = (e) => e.preventDefault();
      zone.ondrop = (e) => { e.preventDefault(); document.title = e.dataTransfer.getData('text/plain'); };</script>`,
    '/popup':
      '<button style="position:absolute;left:10px;top:10px;width:100px;height:40px" onclick="window.open(\'/\')">open</button>',
  });
  const session = await service.kernel.browsers.create({
    viewport: { width: 1000, height: 700 },
    timeout_seconds: 300,
  });
  id = session.session_id;
  browser = await chromium.connectOverCDP(session.cdp_ws_url);
  page = browser.contexts()[0]?.pages()[0] as Page;
});
afterAll(async () => {
  await browser.close();
  site.close();
});
beforeEach(async () => {
  await page.goto(`${site.origin}/`);
});

const seen = (): Promise<unknown[][]> => page.evaluate(() => (window as unknown as { seen: unknown[][] }).seen);
const moves = (): Promise<number[][]> => page.evaluate(() => (window as unknown as { moves: number[][] }).moves);
const value = (selector: string): Promise<string> => page.locator(selector).inputValue();
const computer = (): typeof service.kernel.browsers.computer => service.kernel.browsers.computer;

describe('mouse', () => {
  it('clicks at a point with button, count and held keys', async () => {
    await computer().clickMouse(id, { x: 450, y: 100 });
    await computer().clickMouse(id, { x: 451, y: 101, button: 'right', hold_keys: ['shift'] });
    await computer().clickMouse(id, { x: 452, y: 102, num_clicks: 2 });
    const events = (await seen()).filter(([type]) => !String(type).startsWith('key'));
    expect(events).toEqual([
      ['mousedown', 450, 100, 0, 1, '', true],
      ['mouseup', 450, 100, 0, 1, '', true],
      ['click', 450, 100, 0, 1, '', true],
      ['mousedown', 451, 101, 2, 1, 'S', true],
      ['contextmenu', 451, 101, 2, 0, 'S', true],
      ['mouseup', 451, 101, 2, 1, 'S', true],
      ['auxclick', 451, 101, 2, 1, 'S', true],
      ['mousedown', 452, 102, 0, 1, '', true],
      ['mouseup', 452, 102, 0, 1, '', true],
      ['click', 452, 102, 0, 1, '', true],
      ['mousedown', 452, 102, 0, 2, '', true],
      ['mouseup', 452, 102, 0, 2, '', true],
      ['click', 452, 102, 0, 2, '', true],
      ['dblclick', 452, 102, 0, 2, '', true],
    ]);
    expect(await computer().getMousePosition(id)).toEqual({ x: 452, y: 102 });
  });

  it('moves along a curve in about the given time', async () => {
    await computer().moveMouse(id, { x: 10, y: 10, smooth: false });
    const before = (await moves()).length;
    const started = performance.now();
    await computer().moveMouse(id, { x: 600, y: 400, duration_ms: 300 });
    const took = performance.now() - started;
    const path = (await moves()).slice(before);
    expect(path.length).toBeGreaterThan(8);
    expect(path.at(-1)?.slice(0, 2)).toEqual([600, 400]);
    expect(took).toBeGreaterThan(280);
    expect(took).toBeLessThan(30_000);
  });

  it('scrolls by notches', async () => {
    await computer().scroll(id, { x: 500, y: 300, delta_y: 3 });
    await expect.poll(seen).toContainEqual(['wheel', 0, 360]);
    await page.waitForFunction(() => scrollY === 360);
  });

  it('drags with the button held, straight and smooth', async () => {
    await computer().dragMouse(id, {
      path: [
        [420, 60],
        [520, 160],
        [580, 60],
      ],
      smooth: false,
      steps_per_segment: 5,
      step_delay_ms: 0,
    });
    const straight = (await moves()).filter(([, , buttons]) => buttons === 1);
    expect(straight).toHaveLength(10);
    expect(straight[0]).toEqual([440, 80, 1]);
    expect(straight.at(-1)).toEqual([580, 60, 1]);
    expect((await seen()).map(([type]) => type).filter((type) => type !== 'click')).toEqual(['mousedown', 'mouseup']);
    await computer().dragMouse(id, {
      path: [
        [420, 60],
        [580, 200],
      ],
      duration_ms: 200,
    });
    expect((await moves()).filter(([, , buttons]) => buttons === 1).length).toBeGreaterThan(14);
  });

  it('drags and drops draggable elements', async () => {
    await page.goto(`${site.origin}/drag`);
    await computer().dragMouse(id, {
      path: [
        [40, 40],
        [200, 200],
        [400, 400],
      ],
      duration_ms: 300,
    });
    await page.waitForFunction(() => document.title === 'the card');
  });
});

describe('keyboard', () => {
  it('types keyboard characters as keys', async () => {
    await computer().clickMouse(id, { x: 100, y: 60 });
    await computer().typeText(id, { text: 'aB1!' });
    expect(await value('#a')).toBe('aB1!');
    expect((await seen()).filter(([type]) => type === 'keydown')).toEqual([
      ['keydown', 'a', 'KeyA', 65, '', true],
      ['keydown', 'Shift', 'ShiftLeft', 16, 'S', true],
      ['keydown', 'B', 'KeyB', 66, 'S', true],
      ['keydown', '1', 'Digit1', 49, '', true],
      ['keydown', 'Shift', 'ShiftLeft', 16, 'S', true],
      ['keydown', '!', 'Digit1', 49, 'S', true],
    ]);
  });

  it('types any script, line breaks and every ASCII character', async () => {
    const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
    const text = `${ascii}\nпароль 密码 🔑 é naïve ñ ß ‘’ 👩‍👩‍👧 العربية`;
    await computer().clickMouse(id, { x: 100, y: 140 });
    await computer().typeText(id, { text });
    expect(await value('#t')).toBe(text);
  });

  it('presses keys and combinations by X11 and DOM names', async () => {
    await computer().clickMouse(id, { x: 100, y: 60 });
    await computer().typeText(id, { text: 'old' });
    await computer().pressKey(id, { keys: ['Ctrl+a'] });
    await computer().pressKey(id, { keys: ['BackSpace'] });
    expect(await value('#a')).toBe('');
    await computer().typeText(id, { text: 'first' });
    await computer().pressKey(id, { keys: ['Tab'] });
    await computer().typeText(id, { text: 'second\tthird' });
    expect([await value('#a'), await value('#b'), await value('#t')]).toEqual(['first', 'second', 'third']);
    await computer().pressKey(id, { keys: ['Home', 'x', 'Return'], hold_keys: [] });
    expect(await value('#t')).toBe('x\nthird');
    await computer().pressKey(id, { keys: ['shift+Tab'] });
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('b');
    await expect(computer().pressKey(id, { keys: ['Ctrl+NoSuchKey'] })).rejects.toMatchObject({ status: 400 });
  });

  it('never logs typed text', async () => {
    await computer().clickMouse(id, { x: 100, y: 60 });
    await computer().typeText(id, { text: 'hunter2-secret' });
    expect(service.logs.join('\n')).not.toContain('hunter2');
  });
});

describe('screen', () => {
  it('captures the viewport or a region of it as PNG', async () => {
    const whole = Buffer.from(await (await computer().captureScreenshot(id)).arrayBuffer());
    expect(whole.subarray(0, 8)).toEqual(PNG_SIGNATURE);
    expect(pngSize(whole)).toEqual({ width: 1000, height: 700 });
    await page.evaluate(() => {
      scrollTo(0, 500);
    });
    const region = await computer().captureScreenshot(id, { region: { x: 10, y: 10, width: 120, height: 40 } });
    expect(pngSize(Buffer.from(await region.arrayBuffer()))).toEqual({ width: 120, height: 40 });
    for (const [field, wrong] of [
      ['region.x', { x: 1000, y: 10, width: 10, height: 10 }],
      ['region.y', { x: 10, y: 5000, width: 10, height: 10 }],
      ['region.width', { x: 900, y: 10, width: 101, height: 10 }],
      ['region.height', { x: 10, y: 699, width: 10, height: 2 }],
    ] as const)
      await expect(computer().captureScreenshot(id, { region: wrong })).rejects.toMatchObject({
        status: 400,
        message: containing(`${field}: `),
      });
    const edge = await computer().captureScreenshot(id, { region: { x: 900, y: 600, width: 100, height: 100 } });
    expect(pngSize(Buffer.from(await edge.arrayBuffer()))).toEqual({ width: 100, height: 100 });
  });
});

describe('batch', () => {
  it('runs in order and reports the failing action', async () => {
    await computer().batch(id, {
      actions: [
        { type: 'click_mouse', click_mouse: { x: 100, y: 60 } },
        { type: 'type_text', type_text: { text: 'one' } },
        { type: 'press_key', press_key: { keys: ['Tab'] } },
        { type: 'sleep', sleep: { duration_ms: 5 } },
        { type: 'type_text', type_text: { text: 'two' } },
        { type: 'set_cursor', set_cursor: { hidden: true } },
      ],
    });
    expect([await value('#a'), await value('#b')]).toEqual(['one', 'two']);
    const failing = computer().batch(id, {
      actions: [
        { type: 'type_text', type_text: { text: '!' } },
        { type: 'press_key', press_key: { keys: ['nonsense'] } },
        { type: 'type_text', type_text: { text: '?' } },
      ],
    });
    await expect(failing).rejects.toMatchObject({ status: 400, message: containing('actions[1]') });
    expect(await value('#b')).toBe('two!');
    await expect(computer().batch(id, { actions: [] })).rejects.toMatchObject({ status: 400 });
    await expect(computer().batch(id, { actions: [{ type: 'sleep' }] })).rejects.toMatchObject({ status: 400 });
  });
});

describe('pages', () => {
  it('acts on the latest page, and on the previous one once it closes', async () => {
    await page.goto(`${site.origin}/popup`);
    const popup = page.waitForEvent('popup');
    await computer().clickMouse(id, { x: 50, y: 30 });
    const opened = await popup;
    await opened.waitForLoadState();
    await computer().clickMouse(id, { x: 100, y: 60 });
    await computer().typeText(id, { text: 'in the popup' });
    expect(await opened.locator('#a').inputValue()).toBe('in the popup');
    await opened.close();
    const second = page.waitForEvent('popup');
    await computer().clickMouse(id, { x: 50, y: 30 });
    await (await second).close();
  });

  it('acts on the page that a client brings to the front', async () => {
    const second = await page.context().newPage();
    await second.goto(`${site.origin}/`);
    await page.bringToFront();
    await computer().clickMouse(id, { x: 100, y: 60 });
    await computer().typeText(id, { text: 'back' });
    expect([await value('#a'), await second.locator('#a').inputValue()]).toEqual(['back', '']);
    await second.bringToFront();
    await computer().clickMouse(id, { x: 100, y: 60 });
    await computer().typeText(id, { text: 'again' });
    expect([await value('#a'), await second.locator('#a').inputValue()]).toEqual(['back', 'again']);
    await second.close();
    await computer().clickMouse(id, { x: 100, y: 60 });
    await computer().typeText(id, { text: '!' });
    expect(await value('#a')).toBe('back!');
  });

  it('answers dialogs by keys, and reports a blocking dialog', async () => {
    const alone = await service.kernel.browsers.create({ start_url: `${site.origin}/alert` });
    const key = alone.session_id;
    await expect.poll(() => site.requests.filter((path) => path === '/alert').length).toBe(1);
    await expect
      .poll(async () => {
        await computer()
          .clickMouse(key, { x: 50, y: 30 })
          .catch(() => undefined);
        return computer()
          .typeText(key, { text: 'lost' })
          .then(
            () => 'typed',
            (error: unknown) => String(error),
          );
      })
      .toMatch(/dialog/i);
    await computer().pressKey(key, { keys: ['Return'] });
    const other = await chromium.connectOverCDP(alone.cdp_ws_url);
    expect(await other.contexts()[0]?.pages()[0]?.title()).toBe('true');
    await other.close();
    await service.kernel.browsers.deleteByID(key);
  });
});
