import type { Page } from 'playwright-core';
import type { PageReading } from '../../../contract/reading.ts';
import { inTime } from '../../../contract/in-time.ts';
import { failure } from '../../activity.ts';
import { sanitizeUrl } from '../urls.ts';
import { collectFrames } from './frames.ts';
import { readWithReasons, type ReadPreferences } from './read-page.ts';
import { evidenceOf } from '../../../reader/evidence.ts';
import { showsOnlyLoading } from '../../../reader/signs.ts';
import { redactTypedSecrets } from '../entering/typed-secrets.ts';

/** How long a page that seems to say nothing is given to show that it lives, in milliseconds. */
const SIGN_OF_LIFE_WITHIN_MS = 3000;

/** How long a page may say that it is loading, in milliseconds: an application that starts on a busy machine. */
const LOADS_WITHIN_MS = 20_000;

/**
 * Reads the page when it has come to rest; its address is cleaned of what could be a secret, and all of it of what was
 * typed. A page whose
 * browser has died is no site that cannot be reached: that fails, and the next try finds out what is left.
 */
export async function readLogin(page: Page, preferences: ReadPreferences = {}): Promise<PageReading> {
  const end = Date.now() + LOADS_WITHIN_MS;
  // An error may quote the page. A closed page or a dead browser shows at the next call of the browser service.
  const read = (): Promise<PageReading | null> =>
    readWithReasons(page, preferences).then(
      // What quotes a page that shows a secret is left out.
      ({ reading, reasons }) => (reading.enrolment === true ? reading : { ...reading, evidence: evidenceOf(reasons) }),
      () => null,
    );
  let reading = await read();
  while (reading?.kind === 'unavailable' && Date.now() < end && showsOnlyLoading(await collectFrames(page)))
    reading = await read();
  if (reading === null || (reading.kind === 'unavailable' && !(await isAlive(page)))) throw pageLost();
  return redactTypedSecrets(page, { ...reading, url: sanitizeUrl(reading.url) });
}

/** Leads the page to an address. False when it cannot be reached at all. */
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
  return await inTime(answer, SIGN_OF_LIFE_WITHIN_MS, false);
}

function pageLost(): Error {
  return failure('browser_error', 'the page cannot be read now', false);
}
