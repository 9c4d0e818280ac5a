import { HoldfastError } from '../../contract/errors.ts';
import type { Chromium } from './launch.ts';

/** Throws `operation_failed` if the size would change in kiosk mode. */
export function assertResizable(chromium: Chromium, { width, height }: { width: number; height: number }): void {
  if (!chromium.choices.kioskMode || (chromium.viewport.width === width && chromium.viewport.height === height)) return;
  throw new HoldfastError('operation_failed', 'viewport: cannot be changed in kiosk mode; omit it');
}

/** Resizes the active page's window to an inner size in CSS pixels, also for later tabs. Throws as {@link assertResizable}. */
export async function resizeViewport(chromium: Chromium, viewport: { width: number; height: number }): Promise<void> {
  const { width, height } = viewport;
  const page = chromium.pages.active();
  if (page === undefined || (chromium.viewport.width === width && chromium.viewport.height === height)) return;
  assertResizable(chromium, viewport);
  const { windowId } = await chromium.cdp.send('Browser.getWindowForTarget', { targetId: page.targetId });
  await chromium.cdp.send('Browser.setContentsSize', { windowId, width, height });
  chromium.viewport = { width, height };
}
