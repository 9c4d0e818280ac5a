import { HoldfastError } from '../../contract/errors.ts';
import type { Chromium } from './launch.ts';

/**
 * Gives the window of the active page the wanted inner size, in CSS pixels. Tabs opened later have it too. Throws
 * `operation_failed` where the window's size is fixed.
 */
export async function resizeViewport(chromium: Chromium, viewport: { width: number; height: number }): Promise<void> {
  const { width, height } = viewport;
  const page = chromium.pages.active();
  if (page === undefined || (chromium.viewport.width === width && chromium.viewport.height === height)) return;
  if (chromium.choices.kioskMode) {
    throw new HoldfastError('operation_failed', 'viewport: in kiosk mode it is fixed when the session is created');
  }
  const { windowId } = await chromium.cdp.send('Browser.getWindowForTarget', { targetId: page.targetId });
  await chromium.cdp.send('Browser.setContentsSize', { windowId, width, height });
  chromium.viewport = { width, height };
}
