import type { Frame, Page, ElementHandle } from 'playwright-core';
import { withTimeout } from '../../../contract/with-timeout.ts';
import { collectorScript } from '../../../reader/page-scripts.ts';
import type { ChildFrameFacts, FrameFacts } from '../../../reader/facts.ts';
import type { FrameSnapshot } from '../../../reader/facts.ts';
import { decode, type DecodedPng } from 'fast-png';
import { decodeQR } from 'qr/decode.js';
import { hasUnreadableTotpSecret } from '../../../reader/signs/totp-setup.ts';

/** A frame that does not respond within this time is left out: an advertisement must not delay a login. */
const FRAME_TIMEOUT_MS = 3_000;
/** The page itself may be long and take longer. */
const PAGE_TIMEOUT_MS = 20_000;
const MAX_FRAMES = 25;
const MIN_FRAME_SIZE = 40;

/** Collects the facts of the page and its visible frames, the page first. Empty if the page is navigating or closed. */
export async function collectFrames(page: Page): Promise<FrameSnapshot[]> {
  const budget = { left: MAX_FRAMES };
  return withQrCodes(page, await seeFrame(page.mainFrame(), [], budget));
}

async function seeFrame(frame: Frame, path: readonly string[], budget: { left: number }): Promise<FrameSnapshot[]> {
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

async function matchChildren(parent: Frame, elements: readonly ChildFrameFacts[]): Promise<[Frame, ChildFrameFacts][]> {
  const large = elements.filter(({ box }) => box.width >= MIN_FRAME_SIZE && box.height >= MIN_FRAME_SIZE / 2);
  const found = await Promise.all(
    large.map(async (element): Promise<[Frame, ChildFrameFacts] | undefined> => {
      try {
        const handle = await withTimeout(
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
    const collected = await withTimeout(frame.evaluate<string | FrameFacts>(collectorScript()), timeoutMs, undefined);
    return typeof collected === 'string' ? (JSON.parse(collected) as FrameFacts) : collected;
  } catch {
    return undefined; // The frame is navigating or was removed; the caller reads again.
  }
}

/** Elements that may show a QR code. */
const PICTURES = 'img, canvas, svg, table, [role=img], [style*="background"]';
/** Size of a code on a page in CSS pixels, and maximum ratio of its sides. */
const MIN_SIDE = 80;
const MAX_SIDE = 900;
const MAX_ASPECT = 1.3;
/** Maximum number of pictures that are read, and of pixels in one. */
const MAX_PICTURES = 8;
const MAX_PIXELS = 4_000_000;
const SCREENSHOT_TIMEOUT_MS = 10_000;
/** Time for decoding a picture, in milliseconds: it blocks the worker. */
const DECODE_TIMEOUT_MS = 300;
/** White margin added around a picture, in pixels: the decoder needs a quiet zone. */
const MARGIN = 24;

/** Adds the `otpauth:` URLs in QR codes if a new authenticator's key is not shown as text. They never leave the worker's memory. */
export async function withQrCodes(page: Page, frames: FrameSnapshot[]): Promise<FrameSnapshot[]> {
  const [top, ...others] = frames;
  if (top === undefined || !hasUnreadableTotpSecret(frames)) return frames;
  const found = new Set<string>();
  for (const element of await picturesOf(page)) {
    const text = await readCode(element);
    if (/^otpauth:\/\/totp\//i.test(text)) found.add(text);
  }
  return [{ ...top, qrCodes: [...found] }, ...others];
}

async function picturesOf(page: Page): Promise<ElementHandle[]> {
  const handles = await Promise.all(page.frames().map((frame) => frame.$$(PICTURES).catch(() => [])));
  const found: ElementHandle[] = [];
  for (const handle of handles.flat()) {
    const box = found.length < MAX_PICTURES ? await handle.boundingBox().catch(() => null) : null;
    if (box === null) continue;
    const [short, long] = [Math.min(box.width, box.height), Math.max(box.width, box.height)];
    if (short >= MIN_SIDE && long <= MAX_SIDE && long <= short * MAX_ASPECT) found.push(handle);
  }
  return found;
}

/** The text of a QR code; empty if there is none. Errors are dropped, because they may quote the page. */
async function readCode(element: ElementHandle): Promise<string> {
  try {
    const png = await element.screenshot({ timeout: SCREENSHOT_TIMEOUT_MS, caret: 'initial' });
    return sizeOf(png) > MAX_PIXELS ? '' : decodeQR(framed(decode(png)), { timeLimit: DECODE_TIMEOUT_MS });
  } catch {
    return '';
  }
}

function sizeOf(png: Buffer): number {
  return png.readUInt32BE(16) * png.readUInt32BE(20);
}

function framed({ width, height, channels, data }: DecodedPng): { width: number; height: number; data: Uint8Array } {
  const [wide, high] = [width + 2 * MARGIN, height + 2 * MARGIN];
  const out = new Uint8Array(wide * high * channels).fill(255);
  for (let row = 0; row < height; row += 1) {
    const pixels = data.subarray(row * width * channels, (row + 1) * width * channels);
    out.set(pixels, ((row + MARGIN) * wide + MARGIN) * channels);
  }
  return { width: wide, height: high, data: out };
}
