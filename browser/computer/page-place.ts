import { z } from 'zod';
import { INTERNAL_WORLD } from '../cdp/own-worlds.ts';
import type { Chromium } from '../chromium/launch.ts';
import type { Page } from '../chromium/pages.ts';
import type { Point } from './curve.ts';

/** Most that a window may have above its page (tabs, address bar, a bar of warnings), in pixels. */
const MAX_ABOVE = 250;
/** Most that it may have beside it. */
const MAX_BESIDE = 20;
/** Asked in a world of our own: what a page has made of `innerWidth` is not seen there. */
const LOOK = `[innerWidth, innerHeight, devicePixelRatio * visualViewport.scale,
  document.visibilityState === 'visible', document.hasFocus()]`;
const Seen = z.tuple([z.number(), z.number(), z.number(), z.boolean(), z.boolean()]);

/** Where a page is on the display of its browser. */
export interface PagePlace {
  /** Its top left corner. */
  corner: Point;
  /** Whether keys of the display reach it, and not, say, the address bar. */
  hasKeys: boolean;
}

/** Null when the page is not on the display pixel by pixel: zoomed, of an emulated size, or in a tab that is not shown. */
export async function pageOffsetOnDisplay({ cdp }: Pick<Chromium, 'cdp'>, page: Page): Promise<PagePlace | null> {
  const [{ bounds }, { frameTree }] = await Promise.all([
    cdp.send('Browser.getWindowForTarget', { targetId: page.targetId }),
    cdp.send('Page.getFrameTree', undefined, page.sessionId),
  ]);
  const world = { frameId: frameTree.frame.id, worldName: INTERNAL_WORLD };
  const { executionContextId } = await cdp.send('Page.createIsolatedWorld', world, page.sessionId);
  const { result } = await cdp.send(
    'Runtime.evaluate',
    { expression: LOOK, contextId: executionContextId, returnByValue: true },
    page.sessionId,
  );
  const seen = Seen.safeParse(result.value);
  if (!seen.success) return null;
  const [innerWidth, innerHeight, scale, isVisible, hasKeys] = seen.data;
  const { left = NaN, top = NaN, width = NaN, height = NaN } = bounds;
  const [beside, above] = [width - innerWidth, height - innerHeight];
  const fits = beside >= 0 && beside <= MAX_BESIDE && above >= 0 && above <= MAX_ABOVE;
  if (!fits || scale !== 1 || !isVisible) return null;
  return { corner: { x: left + Math.floor(beside / 2), y: top + above }, hasKeys };
}
