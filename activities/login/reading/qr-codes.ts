import { decode, type DecodedPng } from 'fast-png';
import type { ElementHandle, Page } from 'playwright-core';
import { decodeQR } from 'qr/decode.js';
import type { FrameSnapshot } from '../../../reader/facts.ts';
import { hasUnreadableTotpSecret } from '../../../reader/signs/totp-setup.ts';

/** What a QR code is drawn with. */
const PICTURES = 'img, canvas, svg, table, [role=img], [style*="background"]';
/** Sides of a code on a page, in CSS pixels, and how far they may differ. */
const MIN_SIDE = 80;
const MAX_SIDE = 900;
const MAX_ASPECT = 1.3;
/** Most pictures that are looked at, and how long each may take, in milliseconds. */
const MAX_PICTURES = 8;
/** Largest picture that is read, in pixels. */
const MAX_PIXELS = 4_000_000;
const PICTURE_WITHIN_MS = 10_000;
/** Time for further tries at a picture that is hard to read, in milliseconds: the worker does nothing else meanwhile. */
const DECODE_WITHIN_MS = 300;
/** White around a picture whose code reaches to its edge, in pixels: a code is found by what is around it. */
const MARGIN = 24;

/**
 * Adds to a page that sets up an authenticator, and shows its key in no text, what the QR codes on it say: only `otpauth:` links.
 * They hold the key: they stay in this worker's memory, as the texts of such a page do.
 */
export async function withQrCodes(page: Page, frames: FrameSnapshot[]): Promise<FrameSnapshot[]> {
  const [top, ...others] = frames;
  if (top === undefined || !hasUnreadableTotpSecret(frames)) return frames;
  const found = new Set<string>();
  for (const element of await picturesOf(page)) {
    const said = await readCode(element);
    if (/^otpauth:\/\/totp\//i.test(said)) found.add(said);
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

/** Empty where the picture says nothing. An error may quote the page. */
async function readCode(element: ElementHandle): Promise<string> {
  try {
    const png = await element.screenshot({ timeout: PICTURE_WITHIN_MS, caret: 'initial' });
    return sizeOf(png) > MAX_PIXELS ? '' : decodeQR(framed(decode(png)), { timeLimit: DECODE_WITHIN_MS });
  } catch {
    return '';
  }
}

/** Pixels of a PNG, from its header alone. */
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
