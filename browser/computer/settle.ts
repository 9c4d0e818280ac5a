import type { Session } from '../session/session.ts';

/** Frames until input that the display has taken has gone through the browser to the page. */
const FRAMES = 2;
/** Longest wait for a page that paints nothing, in milliseconds. */
const MAX_WAIT_MS = 500;

/** Resolves when the page has had what was last put in through the display; at once when that was nothing. */
export async function settleInput(session: Session): Promise<void> {
  const { input, chromium } = session;
  const page = input.unsettled;
  input.unsettled = null;
  if (page === null) return;
  // A dialog, or the page's end, is an effect of the input: nothing is left to wait for.
  const interruption = chromium.pages.interrupted(page);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MAX_WAIT_MS);
  });
  const frames = async (): Promise<void> => {
    const expression = 'new Promise((resolve) => requestAnimationFrame(() => resolve()))';
    for (let frame = 0; frame < FRAMES; frame += 1) {
      await chromium.cdp.send('Runtime.evaluate', { expression, awaitPromise: true }, page.sessionId);
    }
  };
  try {
    await Promise.race([frames().catch(() => undefined), interruption.promise, late]);
  } finally {
    clearTimeout(timer);
    interruption.stop();
  }
}
