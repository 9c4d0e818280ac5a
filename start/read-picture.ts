import type { ElementHandle, Frame, Page } from 'playwright-core';
import type { Reason } from '../reader/analyze-page.ts';

/** Draws where each decision lies onto the page and takes a picture of it. The page is of no use for anything else after that. */
export async function takePicture(page: Page, reasons: readonly Reason[], path: string): Promise<void> {
  for (const reason of reasons) {
    const { box } = reason;
    const frame = await frameAt(page, reason.frame);
    if (box === undefined || frame === null) continue;
    await frame.evaluate(drawBox, { box, text: `${reason.what}: ${reason.why}`, taken: reason.taken });
  }
  await page.screenshot({ path, fullPage: true });
}

async function frameAt(page: Page, path: readonly string[]): Promise<Frame | null> {
  let frame: Frame | null = page.mainFrame();
  for (const selector of path) {
    const element: ElementHandle | null = await frame.$(selector);
    frame = (await element?.contentFrame()) ?? null;
    if (frame === null) return null;
  }
  return frame;
}

/** Runs inside the page. */
function drawBox(what: { box: NonNullable<Reason['box']>; text: string; taken: boolean }): void {
  const { x, y, width, height } = what.box;
  const color = what.taken ? '#0a7d2c' : '#b3261e';
  const frame = document.createElement('div');
  frame.style.cssText = `position:absolute;left:${x - 3}px;top:${y - 3}px;width:${width + 6}px;height:${height + 6}px;border:2px ${what.taken ? 'solid' : 'dashed'} ${color};z-index:2147483647;pointer-events:none;box-sizing:border-box`;
  const note = document.createElement('div');
  note.textContent = what.text;
  note.style.cssText = `position:absolute;right:0;bottom:0;max-width:100%;overflow:hidden;white-space:nowrap;background:${color};color:#fff;font:10px/13px sans-serif;padding:0 3px`;
  frame.append(note);
  document.documentElement.append(frame);
}
