import type { Frame, Page } from 'playwright-core';
import { inTime } from '../../../contract/in-time.ts';
import { collectorScript } from '../../../reader/page-scripts.ts';
import type { ChildFrameFacts, FrameFacts } from '../../../reader/facts.ts';
import type { SeenFrame } from '../../../reader/clusters.ts';
import { withQrCodes } from './qr-codes.ts';

/** A frame that does not respond within this time is left out: an advertisement must not delay a login. */
const FRAME_TIMEOUT_MS = 3_000;
/** The page itself may be long and take longer. */
const PAGE_TIMEOUT_MS = 20_000;
const MAX_FRAMES = 25;
const MIN_FRAME_SIZE = 40;

/** Collects the facts of the page and its visible frames, the page first. Empty if the page is navigating or closed. */
export async function collectFrames(page: Page): Promise<SeenFrame[]> {
  const budget = { left: MAX_FRAMES };
  return withQrCodes(page, await seeFrame(page.mainFrame(), [], budget));
}

async function seeFrame(frame: Frame, path: readonly string[], budget: { left: number }): Promise<SeenFrame[]> {
  budget.left -= 1;
  const facts = await collectFrom(frame, path.length === 0 ? PAGE_TIMEOUT_MS : FRAME_TIMEOUT_MS);
  if (!facts) return [];
  const children = facts.frames.length > 0 ? await matchChildren(frame, facts.frames) : [];
  const below = await Promise.all(
    children
      .filter(() => budget.left > 0)
      .map(([child, element]) => seeFrame(child, [...path, element.selector], budget)),
  );
  return [{ path, facts }, ...below.flat()];
}

/** Finds the frame of each visible frame element. */
async function matchChildren(parent: Frame, elements: readonly ChildFrameFacts[]): Promise<[Frame, ChildFrameFacts][]> {
  const large = elements.filter(({ box }) => box.width >= MIN_FRAME_SIZE && box.height >= MIN_FRAME_SIZE / 2);
  const found = await Promise.all(
    large.map(async (element): Promise<[Frame, ChildFrameFacts] | undefined> => {
      try {
        const handle = await inTime(
          parent.locator(element.selector).elementHandle({ timeout: FRAME_TIMEOUT_MS }),
          FRAME_TIMEOUT_MS,
          undefined,
        );
        const child = await handle?.contentFrame();
        await handle?.dispose();
        return child ? [child, element] : undefined;
      } catch {
        return undefined; // The element was removed meanwhile.
      }
    }),
  );
  return found.filter((each) => each !== undefined);
}

async function collectFrom(frame: Frame, timeoutMs: number): Promise<FrameFacts | undefined> {
  try {
    const collected = await inTime(frame.evaluate<string | FrameFacts>(collectorScript()), timeoutMs, undefined);
    return typeof collected === 'string' ? (JSON.parse(collected) as FrameFacts) : collected;
  } catch {
    return undefined; // The frame is navigating or was removed; the caller reads again.
  }
}
