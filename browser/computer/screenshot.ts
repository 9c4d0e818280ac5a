import type { Screenshot } from '../../contract/computer.ts';
import type { Session } from '../session/session.ts';
import { asHoldfastError } from './errors.ts';
import { viewerTarget } from './input.ts';

/** A PNG of what the active page shows, or of a region of it. */
export async function takeScreenshot(session: Session, { region }: Screenshot): Promise<Buffer> {
  const { page } = viewerTarget(session);
  const { cdp } = session.chromium;
  try {
    if (region === undefined) {
      const { data } = await cdp.send('Page.captureScreenshot', { format: 'png' }, page.sessionId);
      return Buffer.from(data, 'base64');
    }
    // A clip counts from the document's corner; callers count from the viewport's.
    const { cssVisualViewport } = await cdp.send('Page.getLayoutMetrics', undefined, page.sessionId);
    const { pageX, pageY } = cssVisualViewport;
    const clip = { ...region, x: region.x + pageX, y: region.y + pageY, scale: 1 };
    const { data } = await cdp.send('Page.captureScreenshot', { format: 'png', clip }, page.sessionId);
    return Buffer.from(data, 'base64');
  } catch (error) {
    throw asHoldfastError(error);
  }
}
