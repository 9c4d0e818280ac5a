import type { Page } from 'playwright-core';
import type { PageReading } from '../../../contract/reading.ts';
import { withTimeout } from '../../../contract/with-timeout.ts';
import { failure } from '../../activity.ts';
import { sanitizeUrl } from '../urls.ts';
import { collectFrames } from './frames.ts';
import { readWithReasons, type ReadPreferences } from './read-page.ts';
import { summarizeReasons } from '../../../reader/analyze-page.ts';
import { isLoadingPage } from '../../../reader/signs/page-signs.ts';
import { redactTypedSecrets } from '../entering/typed-secrets.ts';

/** How long a page that reads as unavailable may take to show that it is alive, in milliseconds. */
const ALIVE_TIMEOUT_MS = 3000;

/** How long a page may show that it is loading, in milliseconds: an application may start on a busy host. */
const LOADING_TIMEOUT_MS = 20_000;

/**
 * Reads the page once it has settled. Its URL is sanitized, and typed secrets are redacted. Fails if the browser has died, so that
 * the page is not mistaken for an unreachable site; a retry finds out what is left.
 */
export async function readLogin(page: Page, preferences: ReadPreferences = {}): Promise<PageReading> {
  const end = Date.now() + LOADING_TIMEOUT_MS;
  // The error is dropped, because it may quote the page. The next call of the browser service finds a dead browser.
  const read = (): Promise<PageReading | null> =>
    readWithReasons(page, preferences).then(
      // A page that shows a new secret is not quoted.
      ({ reading, reasons }) =>
        reading.enrolment === true ? reading : { ...reading, evidence: summarizeReasons(reasons) },
      () => null,
    );
  let reading = await read();
  while (reading?.kind === 'unavailable' && Date.now() < end && isLoadingPage(await collectFrames(page)))
    reading = await read();
  if (reading === null || (reading.kind === 'unavailable' && !(await isAlive(page)))) throw pageLost();
  return redactTypedSecrets(page, { ...reading, url: sanitizeUrl(reading.url) });
}

/** Navigates to a URL. False if it cannot be reached. */
export async function goTo(page: Page, url: string): Promise<boolean> {
  try {
    await page.goto(url, { waitUntil: 'domcontentloaded', timeout: 30_000 });
    return true;
  } catch {
    if (page.isClosed()) throw pageLost();
    return !page.url().startsWith('chrome-error:') && page.url() !== 'about:blank';
  }
}

async function isAlive(page: Page): Promise<boolean> {
  if (page.isClosed()) return false;
  const answer = page.evaluate('0').then(
    () => true,
    () => false,
  );
  return await withTimeout(answer, ALIVE_TIMEOUT_MS, false);
}

function pageLost(): Error {
  return failure('browser_error', 'the page could not be read', false);
}
