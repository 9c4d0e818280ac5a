import { HoldfastError } from '../../contract/errors.ts';
import type { Chromium } from './launch.ts';

/** Throws `operation_failed` where the window's size is fixed and another is asked for. */
export function assertResizable(chromium: Chromium, { width, height }: { width: number; height: number }): void {
  if (!chromium.choices.kioskMode || (chromium.viewport.width === width && chromium.viewport.height === height)) return;
  throw new HoldfastError('operation_failed', 'viewport: cannot be changed in kiosk mode');
}

/**
 * Gives the window of the active page the wanted inner size, in CSS pixels. Tabs opened later have it too. Throws
 * `operation_failed` where the window's size is fixed.
 */
export async function resizeViewport(chromium: Chromium, viewport: { width: number; height: number }): Promise<void> {
  const { width, height } = viewport;
  const page = chromium.pages.active();
  if (page === undefined || (chromium.viewport.width === width && chromium.viewport.height === height)) return;
  assertResizable(chromium, viewport);
  const { windowId } = await chromium.cdp.send('Browser.getWindowForTarget', { targetId: page.targetId });
  await chromium.cdp.send('Browser.setContentsSize', { windowId, width, height });
  chromium.viewport = { width, height };
}
