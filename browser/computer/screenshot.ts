import { setTimeout as sleep } from 'node:timers/promises';
import type { Screenshot } from '../../contract/computer.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { CdpError } from '../cdp/connection.ts';
import type { Page } from '../chromium/pages.ts';
import type { Session } from '../session/session.ts';
import { toHoldfastError, pageCrashed } from './errors.ts';
import { viewerTarget } from './input.ts';

/** How often a picture is asked for when the page moves on meanwhile: the answer goes with the document that owed it. */
const MAX_ATTEMPTS = 10;
/** Attempts that the browser may refuse. */
const MAX_REFUSALS = 5;
const BETWEEN_REFUSALS_MS = 100;

/** A PNG of what the active page shows, or of a region of it. */
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
      // With a dialog, or without the page, the next look says why there is no picture.
      if (typeof result !== 'string') return result;
    } catch (error) {
      // Between two documents there is nothing to take a picture of.
      const mayPass = error instanceof CdpError && error.reason === 'refused' && attempt < MAX_REFUSALS;
      if (!mayPass) throw toHoldfastError(error);
      await sleep(BETWEEN_REFUSALS_MS);
    } finally {
      interruption.stop();
    }
  }
  throw new HoldfastError('operation_failed', 'Screenshot failed: the page kept navigating; try again');
}

/** Throws `invalid_input` for a region that the screen, of `size` pixels in this direction, does not hold. */
function requireWithin(
  from: 'x' | 'y',
  length: 'width' | 'height',
  region: NonNullable<Screenshot['region']>,
  size: number,
): void {
  if (region[from] >= size) throw invalidField(`region.${from}`, `lies outside the screen, whose ${length} is ${size}`);
  if (region[from] + region[length] > size)
    throw invalidField(`region.${length}`, `reaches beyond the screen, whose ${length} is ${size}`);
}

async function capture({ chromium, record }: Session, page: Page, region: Screenshot['region']): Promise<Buffer> {
  const { cdp } = chromium;
  if (region === undefined) {
    const { data } = await cdp.send('Page.captureScreenshot', { format: 'png' }, page.sessionId);
    return Buffer.from(data, 'base64');
  }
  // A clip counts from the document's corner; callers count from the viewport's.
  const { cssVisualViewport } = await cdp.send('Page.getLayoutMetrics', undefined, page.sessionId);
  const { pageX, pageY, clientWidth, clientHeight } = cssVisualViewport;
  // A client of CDP may have made the page larger than the session's viewport.
  requireWithin('x', 'width', region, Math.max(record.viewport.width, clientWidth));
  requireWithin('y', 'height', region, Math.max(record.viewport.height, clientHeight));
  const clip = { ...region, x: region.x + pageX, y: region.y + pageY, scale: 1 };
  const { data } = await cdp.send('Page.captureScreenshot', { format: 'png', clip }, page.sessionId);
  return Buffer.from(data, 'base64');
}
