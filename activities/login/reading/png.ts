import { inflateSync } from 'node:zlib';

/** A picture, three bytes (red, green, blue) a pixel, rows from the top. */
export interface Pixels {
  width: number;
  height: number;
  data: Uint8Array;
}

/** Bytes of a pixel by the colour type of a PNG: what browsers write. */
const CHANNELS: Readonly<Record<number, number>> = { 2: 3, 6: 4 };
/** Largest picture that is read, in pixels. */
const MAX_PIXELS = 4_000_000;

/** Reads a screenshot of Chromium: a PNG of eight bits a channel, not interlaced, as opaque as screenshots are. Null for any other. */
export function readPng(png: Buffer): Pixels | null {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const channels = CHANNELS[png.readUInt8(25)];
  if (png.readUInt8(24) !== 8 || channels === undefined || png.readUInt8(28) !== 0 || width * height > MAX_PIXELS)
    return null;
  const parts: Buffer[] = [];
  for (let at = 8; at + 8 <= png.length; at += 12 + png.readUInt32BE(at)) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
  }
  const rows = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, height, channels);
  const data = new Uint8Array(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel += 1)
    for (let channel = 0; channel < 3; channel += 1) data[pixel * 3 + channel] = rows[pixel * channels + channel] ?? 0;
  return { width, height, data };
}

/** Undoes what each row was written relative to (PNG, 9.2): the pixel to the left, the one above, both, or the nearest of three. */
function unfiltered(raw: Buffer, stride: number, height: number, channels: number): Uint8Array {
  const out = new Uint8Array(stride * height);
  for (let row = 0; row < height; row += 1) {
    const filter = raw[row * (stride + 1)];
    const [from, to] = [row * (stride + 1) + 1, row * stride];
    for (let at = 0; at < stride; at += 1) {
      const left = at < channels ? 0 : (out[to + at - channels] ?? 0);
      const above = row === 0 ? 0 : (out[to + at - stride] ?? 0);
      const corner = at < channels || row === 0 ? 0 : (out[to + at - stride - channels] ?? 0);
      const base = [0, left, above, (left + above) >> 1, nearest(left, above, corner)][filter ?? 0] ?? 0;
      out[to + at] = (raw[from + at] ?? 0) + base;
    }
  }
  return out;
}

function nearest(left: number, above: number, corner: number): number {
  const guess = left + above - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? above : corner;
}
