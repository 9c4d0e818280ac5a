import type { Page } from 'playwright-core';
import type { PageReading } from '../../contract/reading.ts';
import { failure } from '../browser/service.ts';
import { shownUrl } from './landing-url.ts';
import { readWhenSettled } from './read/read-page.ts';

/** Reads the page when it has come to rest; the address in the reading is cleaned of what could be a secret. */
export async function readLogin(page: Page): Promise<PageReading> {
  try {
    const reading = await readWhenSettled(page);
    return { ...reading, url: shownUrl(reading.url) };
  } catch {
    // The error may quote the page. A closed page or a dead browser shows at the next call of the browser service.
    throw failure('browser_error', 'the page cannot be read now', false);
  }
}

/** Leads the page to an address. False when it cannot be reached at all. */
export async function goTo(page: Page, url: string): Promise<boolean> {
  try {
    await page.goto(url, { waitUntil: 'domcontentloaded', timeout: 30_000 });
    return true;
  } catch {
    return !page.url().startsWith('chrome-error:') && page.url() !== 'about:blank';
  }
}
