import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { containing, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

const run = promisify(execFile);

/** Records what a page sees of keys, mouse and wheel. */
const RECORDER = `<!doctype html><style>body{margin:0;height:3000px}input,textarea{position:absolute;left:50px;width:300px}</style>
<input id=a style="top:50px"><input id=b style="top:90px"><textarea id=t style="top:130px"></textarea>
<script>
window.seen = []; window.moves = [];
const modifiers = (e) => (e.altKey ? 'A' : '') + (e.ctrlKey ? 'C' : '') + (e.metaKey ? 'M' : '') + (e.shiftKey ? 'S' : '');
for (const type of ['keydown', 'keyup'])
  addEventListener(type, (e) => seen.push([type, e.key, e.code, e.keyCode, e.location, e.repeat, modifiers(e), e.isTrusted]));
for (const type of ['mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'auxclick'])
  addEventListener(type, (e) => {
    seen.push([type, e.clientX, e.clientY, e.button, e.buttons, e.detail, modifiers(e), e.isTrusted]);
    if (type === 'contextmenu' || e.button > 2) e.preventDefault();
  });
addEventListener('mousemove', (e) => moves.push([e.clientX, e.clientY, e.buttons, modifiers(e)]));
addEventListener('wheel', (e) => seen.push(['wheel', e.clientX, e.clientY, e.deltaX, e.deltaY, modifiers(e)]));
addEventListener('input', (e) => seen.push(['input', e.inputType, e.data]));
</script>`;

/** A session of one kind with a page that records. */
interface Way {
  headless: boolean;
  id: string;
  browser: Browser;
  page: Page;
}

let service: ServiceUnderTest;
let site: Site;
let ways: Way[];

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({ '/': RECORDER });
  ways = await Promise.all(
    [true, false].map(async (headless) => {
      const { session_id: id, cdp_ws_url: cdp } = await service.kernel.browsers.create({
        headless,
        viewport: { width: 1000, height: 700 },
        timeout_seconds: 300,
      });
      const browser = await chromium.connectOverCDP(cdp, { noDefaults: true });
      return { headless, id, browser, page: browser.contexts()[0]?.pages()[0] as Page };
    }),
  );
});
afterAll(async () => {
  await Promise.all(ways.map(({ browser }) => browser.close()));
  site.close();
});
beforeEach(async () => {
  await Promise.all(ways.map(({ page }) => page.goto(`${site.origin}/`)));
});

type Recorded = { seen: unknown[][]; moves: unknown[][]; values: string[] };
type Controls = ServiceUnderTest['kernel']['browsers']['computer'];

/** Does the same in both sessions; what each page saw of it. */
async function both(act: (controls: Controls, id: string) => Promise<unknown>): Promise<[Recorded, Recorded]> {
  const recorded: Recorded[] = [];
  for (const { id, page } of ways) {
    await act(service.kernel.browsers.computer, id);
    recorded.push(
      await page
        .evaluate(() => ({
          ...(window as unknown as Pick<Recorded, 'seen' | 'moves'>),
          seen: (window as unknown as Recorded).seen,
          moves: (window as unknown as Recorded).moves,
          values: ['a', 'b', 't'].map((name) => (document.getElementById(name) as unknown as { value: string }).value),
        }))
        .then(({ seen, moves, values }) => ({ seen, moves, values })),
    );
  }
  const [headless, windowed] = recorded;
  if (headless === undefined || windowed === undefined) throw new Error('two sessions are needed');
  return [headless, windowed];
}

describe('input through the display and through CDP', () => {
  it.each(['left', 'right', 'middle', 'back', 'forward'] as const)('is the same for the %s button', async (button) => {
    const [headless, windowed] = await both(async (computer, id) => {
      await computer.clickMouse(id, { x: 500, y: 300, button });
      await computer.clickMouse(id, { x: 600, y: 310, button, hold_keys: ['shift', 'ctrl'] });
      await computer.clickMouse(id, { x: 700, y: 320, button, click_type: 'down' });
      await computer.clickMouse(id, { x: 720, y: 340, button, click_type: 'up' });
    });
    expect(headless.seen.filter(([type]) => type === 'mousedown')).toHaveLength(3);
    expect(windowed.seen).toEqual(headless.seen);
  });

  it('is the same for one, two and three clicks', async () => {
    const [headless, windowed] = await both(async (computer, id) => {
      for (const num_clicks of [1, 2, 3])
        await computer.clickMouse(id, { x: 400 + num_clicks * 50, y: 300, num_clicks });
    });
    expect(headless.seen.filter(([type]) => type === 'dblclick')).toHaveLength(2);
    expect(windowed.seen).toEqual(headless.seen);
  });

  it('is the same for a straight drag, step by step', async () => {
    const [headless, windowed] = await both((computer, id) =>
      computer.dragMouse(id, {
        path: [
          [420, 60],
          [520, 160],
          [580, 60],
        ],
        smooth: false,
        steps_per_segment: 5,
        step_delay_ms: 0,
        hold_keys: ['alt'],
      }),
    );
    expect(headless.moves.filter(([, , buttons]) => buttons === 1)).toHaveLength(10);
    expect(windowed.moves.filter(([, , buttons]) => buttons === 1)).toEqual(
      headless.moves.filter(([, , buttons]) => buttons === 1),
    );
    expect(windowed.seen).toEqual(headless.seen);
  });

  it('is the same at both ends of a curve, with many moves in between', async () => {
    const recorded = await both((computer, id) =>
      computer.dragMouse(id, {
        path: [
          [420, 60],
          [580, 400],
        ],
        duration_ms: 600,
      }),
    );
    for (const { moves, seen } of recorded) {
      const dragged = moves.filter(([, , buttons]) => buttons === 1);
      expect(dragged.length).toBeGreaterThan(8);
      expect(dragged.at(-1)?.slice(0, 2)).toEqual([580, 400]);
      expect(seen.map(([type]) => type).filter((type) => type !== 'click')).toEqual(['mousedown', 'mouseup']);
    }
  });

  it('is the same for the wheel', async () => {
    const { computer } = service.kernel.browsers;
    for (const { id, page } of ways) {
      await computer.scroll(id, { x: 500, y: 300, delta_y: 3 });
      await computer.scroll(id, { x: 500, y: 300, delta_y: -1 });
      await computer.scroll(id, { x: 500, y: 300, delta_x: 1 });
      // A page is told of turns of the wheel after they have scrolled it.
      const turns = (): Promise<number[]> =>
        page.evaluate(() => {
          const { seen } = window as unknown as Recorded;
          const wheel = seen.filter(([type]) => type === 'wheel');
          return [3, 4].map((index) => wheel.reduce((sum, event) => sum + Number(event[index]), 0));
        });
      await expect.poll(turns).toEqual([120, 240]);
    }
  });

  it('is the same for every character of the keyboard', async () => {
    const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
    const [headless, windowed] = await both(async (computer, id) => {
      await computer.clickMouse(id, { x: 100, y: 140 });
      await computer.typeText(id, { text: `${ascii}\nnext` });
    });
    expect(headless.values[2]).toBe(`${ascii}\nnext`);
    expect(windowed.values).toEqual(headless.values);
    expect(windowed.seen).toEqual(headless.seen);
  });

  it('is the same for any script, mixed with keys', async () => {
    const text = 'a пароль b 密码 c 🔑👩‍👩‍👧 d العربية e naïve ñ ß';
    const [headless, windowed] = await both(async (computer, id) => {
      await computer.clickMouse(id, { x: 100, y: 60 });
      await computer.typeText(id, { text });
    });
    expect([headless.values[0], windowed.values[0]]).toEqual([text, text]);
    expect(windowed.seen).toEqual(headless.seen);
  });

  it('is the same for keys and combinations', async () => {
    const [headless, windowed] = await both(async (computer, id) => {
      await computer.clickMouse(id, { x: 100, y: 60 });
      await computer.typeText(id, { text: 'old words' });
      await computer.pressKey(id, { keys: ['Ctrl+a', 'BackSpace'] });
      await computer.typeText(id, { text: 'one\ttwo' });
      await computer.pressKey(id, { keys: ['shift+Tab', 'End', 'shift+Left', 'Delete', 'Home', 'x', 'Up', 'Escape'] });
      await computer.pressKey(id, { keys: ['q'], duration: 900 });
    });
    expect(headless.values.slice(0, 2)).toEqual(['qxon', 'two']);
    expect(windowed.values).toEqual(headless.values);
    expect(windowed.seen).toEqual(headless.seen);
  });

  it('reports the mouse position, and stops a batch at the first error', async () => {
    for (const { id } of ways) {
      const { computer } = service.kernel.browsers;
      await computer.moveMouse(id, { x: 321, y: 123, smooth: false });
      expect(await computer.getMousePosition(id)).toEqual({ x: 321, y: 123 });
      const failing = computer.batch(id, {
        actions: [
          { type: 'click_mouse', click_mouse: { x: 100, y: 60 } },
          { type: 'type_text', type_text: { text: 'typed' } },
          { type: 'press_key', press_key: { keys: ['nonsense'] } },
          { type: 'type_text', type_text: { text: 'never' } },
        ],
      });
      await expect(failing).rejects.toMatchObject({ status: 400, message: containing('actions[2]') });
    }
    expect(await Promise.all(ways.map(({ page }) => page.inputValue('#a')))).toEqual(['typed', 'typed']);
  });

  it('moves the display’s mouse', async () => {
    const windowed = ways.find(({ headless }) => !headless);
    await service.kernel.browsers.computer.moveMouse(windowed?.id ?? '', { x: 277, y: 99, smooth: false });
    const sockets = await readdir('/tmp/.X11-unix');
    const pointers = await Promise.all(
      sockets.map(async (socket) => {
        const env = { PATH: process.env['PATH'], DISPLAY: `:${socket.slice(1)}` };
        return (await run('xdotool', ['getmouselocation'], { env }).catch(() => ({ stdout: '' }))).stdout;
      }),
    );
    expect(pointers.filter((text) => text.startsWith('x:277 '))).toHaveLength(1);
  });
});
