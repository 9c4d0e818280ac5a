import { stat } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { afterAll, describe, expect } from 'vitest';
import { pngSize } from './png.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let site: Site;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({ '/': '<input id=a style="position:absolute;left:50px;top:50px;width:200px">' });
});
afterAll(() => {
  site.close();
});

describe('a browser with a window', () => {
  it.each([false, true])('runs on its own display (kiosk mode %s), and leaves none behind', async (kioskMode) => {
    const { kernel } = service;
    const session = await kernel.browsers.create({
      headless: false,
      stealth: true,
      kiosk_mode: kioskMode,
      viewport: { width: 900, height: 600 },
      timeout_seconds: 300,
    });
    expect(session).toMatchObject({ headless: false, kiosk_mode: kioskMode });
    const browser = await chromium.connectOverCDP(session.cdp_ws_url, { noDefaults: true });
    const page = browser.contexts()[0]?.pages()[0];
    await page?.goto(`${site.origin}/`);
    const seen = await page?.evaluate(() => [
      innerWidth,
      innerHeight,
      navigator.webdriver,
      navigator.userAgent.includes('Headless'),
    ]);
    expect(seen).toEqual([900, 600, false, false]);
    await kernel.browsers.computer.clickMouse(session.session_id, { x: 100, y: 60 });
    await kernel.browsers.computer.typeText(session.session_id, { text: 'Hello!' });
    expect(await page?.inputValue('#a')).toBe('Hello!');
    const shot = await kernel.browsers.computer.captureScreenshot(session.session_id);
    expect(pngSize(Buffer.from(await shot.arrayBuffer()))).toEqual({ width: 900, height: 600 });
    const { stdout_b64: display = '' } = await kernel.browsers.process.exec(session.session_id, {
      command: 'sh',
      args: ['-c', 'printf %s "${DISPLAY#:}"'],
    });
    const socket = `/tmp/.X11-unix/X${Buffer.from(display, 'base64').toString()}`;
    const { ino } = await stat(socket);
    await browser.close();
    await kernel.browsers.deleteByID(session.session_id);
    // Another session may use the number by now, but not the socket.
    const left = await stat(socket).catch(() => null);
    expect(left?.ino).not.toBe(ino);
  });

  it('can be headless in kiosk mode too, and can be resized otherwise', async () => {
    const { kernel } = service;
    for (const kioskMode of [true, false]) {
      const session = await kernel.browsers.create({
        headless: true,
        kiosk_mode: kioskMode,
        viewport: { width: 700, height: 500 },
      });
      const browser = await chromium.connectOverCDP(session.cdp_ws_url, { noDefaults: true });
      const page = browser.contexts()[0]?.pages()[0];
      const size = (): Promise<number[]> | undefined => page?.evaluate(() => [innerWidth, innerHeight]);
      expect(await size()).toEqual([700, 500]);
      const resized = kernel.browsers.update(session.session_id, { viewport: { width: 390, height: 844 } });
      if (kioskMode) await expect(resized).rejects.toMatchObject({ status: 422 });
      else {
        expect((await resized).viewport).toEqual({ width: 390, height: 844 });
        await expect.poll(size).toEqual([390, 844]);
      }
      await browser.close();
      await kernel.browsers.deleteByID(session.session_id);
    }
  });
});
