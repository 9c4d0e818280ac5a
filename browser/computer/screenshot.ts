import { setTimeout as sleep } from 'node:timers/promises';
import type { Screenshot } from '../../contract/computer.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { CdpError } from '../cdp/connection.ts';
import type { Page } from '../chromium/pages.ts';
import type { Session } from '../session/session.ts';
import { toHoldfastError, pageCrashed } from './errors.ts';
import { viewerTarget } from './input.ts';

/** Attempts while the page keeps navigating, which drops pending captures. */
const MAX_ATTEMPTS = 10;
/** Attempts while the browser rejects captures, and the delay between them. */
const MAX_REJECTIONS = 5;
const REJECTION_DELAY_MS = 100;

/** Takes a PNG of the active page's viewport, or a region of it. */
export async function takeScreenshot(session: Session, { region }: Screenshot): Promise<Buffer> {
  const { pages } = session.chromium;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const { page } = viewerTarget(session);
    const interruption = pages.interrupted(page);
    try {
      const captured = capture(session, page, region);
      captured.catch(() => undefined);
      const result = await Promise.race([captured, interruption.promise]);
      if (result === 'crashed') throw pageCrashed();
      // For a dialog or a closed page, the next attempt throws the reason.
      if (typeof result !== 'string') return result;
    } catch (error) {
      // Between two documents there is nothing to capture.
      const isTransient = error instanceof CdpError && error.reason === 'refused' && attempt < MAX_REJECTIONS;
      if (!isTransient) throw toHoldfastError(error);
      await sleep(REJECTION_DELAY_MS);
    } finally {
      interruption.stop();
    }
  }
  throw new HoldfastError('operation_failed', 'Screenshot failed: the page kept navigating; retry');
}

/** Throws `invalid_input` for a region beyond the screen's `size` in one dimension. */
function assertWithin(
  from: 'x' | 'y',
  length: 'width' | 'height',
  region: NonNullable<Screenshot['region']>,
  size: number,
): void {
  if (region[from] >= size) throw invalidField(`region.${from}`, `is outside the screen, whose ${length} is ${size}`);
  if (region[from] + region[length] > size)
    throw invalidField(`region.${length}`, `extends beyond the screen, whose ${length} is ${size}`);
}

async function capture({ chromium, record }: Session, page: Page, region: Screenshot['region']): Promise<Buffer> {
  const { cdp } = chromium;
  if (region === undefined) {
    const { data } = await cdp.send('Page.captureScreenshot', { format: 'png' }, page.sessionId);
    return Buffer.from(data, 'base64');
  }
  // Clips are relative to the document, regions to the viewport.
  const { cssVisualViewport } = await cdp.send('Page.getLayoutMetrics', undefined, page.sessionId);
  const { pageX, pageY, clientWidth, clientHeight } = cssVisualViewport;
  // A CDP client may have made the page larger than the session's viewport.
  assertWithin('x', 'width', region, Math.max(record.viewport.width, clientWidth));
  assertWithin('y', 'height', region, Math.max(record.viewport.height, clientHeight));
  const clip = { ...region, x: region.x + pageX, y: region.y + pageY, scale: 1 };
  const { data } = await cdp.send('Page.captureScreenshot', { format: 'png', clip }, page.sessionId);
  return Buffer.from(data, 'base64');
}
