import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lowContrast } from './contrast.ts';
import { STATES } from './states.ts';
import { DESKTOP, NARROW, PHONE, serve, visit } from './visit.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

/** To look at every screen: `HOSTED_SHOTS=dir npx vitest run test/hosted/tour` puts pictures there. */
const shots = process.env['HOSTED_SHOTS'];

const LOOKS: Record<string, BrowserContextOptions> = {
  'phone-light': { ...PHONE, colorScheme: 'light' },
  'phone-dark': { ...PHONE, colorScheme: 'dark' },
  'narrow-german': { ...NARROW, colorScheme: 'light', locale: 'de-DE' },
  'desktop-light': { ...DESKTOP, colorScheme: 'light' },
  'desktop-dark': { ...DESKTOP, colorScheme: 'dark' },
};

let browser: Browser;
beforeAll(async () => {
  browser = await openViewer();
});
afterAll(() => closeViewer(browser));

test.each(Object.entries(LOOKS))('every state fits, is legible and complains of nothing: %s', async (look, options) => {
  const { page, context, complaints } = await visit(browser, { ...options, reducedMotion: 'reduce' });
  for (const [name, change] of Object.entries(STATES)) {
    const site = await serve();
    site.flow.go(change());
    await page.goto(site.link({ success_url: 'https://app.example.com/', error_url: 'https://app.example.com/' }));
    await page
      .locator('h1')
      .filter({ hasNotText: /Opening your|wird geöffnet/ })
      .waitFor();
    const sideways = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(sideways, `${name} scrolls sideways`).toBe(0);
    expect(await page.evaluate(lowContrast), `${name} has faint text`).toEqual([]);
    expect(complaints, name).toEqual([]);
    if (shots !== undefined) {
      mkdirSync(shots, { recursive: true });
      await page.screenshot({ path: join(shots, `${look}-${name}.png`), fullPage: true });
    }
    await site.close();
  }
  await context.close();
});
