import type { Chromium } from './launch.ts';

/** Gives the window of the active page the wanted inner size, in CSS pixels. Tabs opened later have it too. */
export async function resizeViewport(chromium: Chromium, viewport: { width: number; height: number }): Promise<void> {
  const page = chromium.pages.active();
  if (
    page === undefined ||
    (chromium.viewport.width === viewport.width && chromium.viewport.height === viewport.height)
  ) {
    return;
  }
  const { windowId } = await chromium.cdp.send('Browser.getWindowForTarget', { targetId: page.targetId });
  const { width, height } = viewport;
  await chromium.cdp.send('Browser.setContentsSize', { windowId, width, height });
  chromium.viewport = { width, height };
}
