import { decode, type DecodedPng } from 'fast-png';
import type { ElementHandle, Page } from 'playwright-core';
import { decodeQR } from 'qr/decode.js';
import type { SeenFrame } from '../../../reader/clusters.ts';
import { hidesEnrolment } from '../../../reader/enrolment.ts';

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

/**
 * Adds the `otpauth:` URLs in QR codes to a page that sets up an authenticator without showing its key as text. They contain the
 * key, and like the texts of such a page they never leave the worker's memory.
 */
export async function withQrCodes(page: Page, frames: SeenFrame[]): Promise<SeenFrame[]> {
  const [top, ...others] = frames;
  if (top === undefined || !hidesEnrolment(frames)) return frames;
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

/** The text of a QR code; empty if there is none. Errors are dropped, because they may quote the page. */
async function readCode(element: ElementHandle): Promise<string> {
  try {
    const png = await element.screenshot({ timeout: SCREENSHOT_TIMEOUT_MS, caret: 'initial' });
    return sizeOf(png) > MAX_PIXELS ? '' : decodeQR(framed(decode(png)), { timeLimit: DECODE_TIMEOUT_MS });
  } catch {
    return '';
  }
}

/** Number of pixels of a PNG, from its header. */
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
