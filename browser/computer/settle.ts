import { withTimeout } from '../../contract/with-timeout.ts';
import type { Session } from '../session/session.ts';

/** Frames until input of the display has reached the page. */
const FRAMES = 2;
/** Longest wait for a page that does not render, in milliseconds. */
const MAX_WAIT_MS = 500;

/** Resolves when the page has received the display's latest input, if any. */
export async function settleInput(session: Session): Promise<void> {
  const { input, chromium } = session;
  const page = input.unsettled;
  input.unsettled = null;
  if (page === null) return;
  // A dialog or the end of the page is an effect of the input: nothing is left to wait for.
  const interruption = chromium.pages.interrupted(page);
  const frames = async (): Promise<void> => {
    const expression = 'new Promise((resolve) => requestAnimationFrame(() => resolve()))';
    for (let frame = 0; frame < FRAMES; frame += 1) {
      await chromium.cdp.send('Runtime.evaluate', { expression, awaitPromise: true }, page.sessionId);
    }
  };
  try {
    await withTimeout(Promise.race([frames().catch(() => undefined), interruption.promise]), MAX_WAIT_MS, undefined);
  } finally {
    interruption.stop();
  }
}
