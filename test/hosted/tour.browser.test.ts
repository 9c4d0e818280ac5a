import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STATES } from './states.ts';
import { DESKTOP, launch, NARROW, PHONE, serve, visit } from './visit.ts';

/** Screens to look at: `HOSTED_SHOTS=dir npx vitest run test/hosted/tour` keeps them there. */
const shots = process.env['HOSTED_SHOTS'] ?? mkdtempSync(join(tmpdir(), 'holdfast-hosted-'));

const LOOKS: Record<string, BrowserContextOptions> = {
  'phone-light': { ...PHONE, colorScheme: 'light' },
  'phone-dark': { ...PHONE, colorScheme: 'dark' },
  'narrow-german': { ...NARROW, colorScheme: 'light', locale: 'de-DE' },
  'desktop-light': { ...DESKTOP, colorScheme: 'light' },
  'desktop-dark': { ...DESKTOP, colorScheme: 'dark', reducedMotion: 'reduce' },
};

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

test.each(Object.entries(LOOKS))('every state fits and complains of nothing: %s', async (look, options) => {
  for (const [name, change] of Object.entries(STATES)) {
    const site = await serve();
    const { page, context, complaints } = await visit(browser, options);
    site.flow.go(change());
    await page.goto(
      site.link({ success_url: 'https://app.example.com/done', error_url: 'https://app.example.com/failed' }),
    );
    await page
      .locator('h1')
      .filter({ hasNotText: /Opening your|wird geöffnet/ })
      .waitFor();
    await page.waitForTimeout(350);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow, `${name} scrolls sideways on ${look}`).toBe(0);
    await page.screenshot({ path: join(shots, `${look}-${name}.png`), fullPage: true });
    expect(complaints, name).toEqual([]);
    await context.close();
    await site.close();
  }
});
