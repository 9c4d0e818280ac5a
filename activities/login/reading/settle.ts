import type { Page } from 'playwright-core';
import { quietScript } from '../../../reader/page-scripts.ts';

/** A page is quiet after this time without a change: enough for two animation frames and a short timer. */
const QUIET_MS = 80;
const DEFAULT_TIMEOUT_MS = 10_000;

/** Limits of waiting, in milliseconds. */
export interface SettleOptions {
  /** Upper bound of the wait; then the page is read as it is. Default 10,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Waits until the page has loaded and is stable: no pending navigation, and no change of the document for a moment. Takes about
 * 100 ms for a page that is already complete. Never fails; returns after the timeout if the page does not settle.
 */
export async function settle(page: Page, options: SettleOptions = {}): Promise<void> {
  const deadline = Date.now() + (options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  while (!page.isClosed() && !options.signal?.aborted) {
    const left = deadline - Date.now();
    if (left <= 0 || (await waitForQuiet(page, left, false)) !== 'navigated') return;
    await loaded(page, deadline - Date.now());
  }
}

/** Waits for the next change or navigation of the page, and until it is quiet again. False if there was none. */
export async function settleAfterChange(page: Page, options: SettleOptions & { timeoutMs: number }): Promise<boolean> {
  const deadline = Date.now() + options.timeoutMs;
  const end = await waitForQuiet(page, options.timeoutMs, true);
  if (end === 'timeout' || page.isClosed()) return false;
  if (end === 'navigated') {
    await loaded(page, deadline - Date.now());
    await settle(page, { ...options, timeoutMs: Math.max(0, deadline - Date.now()) });
  }
  return true;
}

type End = 'quiet' | 'timeout' | 'navigated';

async function waitForQuiet(page: Page, timeoutMs: number, change: boolean): Promise<End> {
  try {
    return await page.evaluate<'quiet' | 'timeout'>(quietScript({ quietMs: QUIET_MS, timeoutMs, change }));
  } catch {
    return page.isClosed() ? 'timeout' : 'navigated'; // The document was replaced during the wait.
  }
}

async function loaded(page: Page, timeoutMs: number): Promise<void> {
  if (timeoutMs <= 0) return;
  // A page that never finishes loading is read as it is.
  await page.waitForLoadState('load', { timeout: timeoutMs }).catch(() => undefined);
}
