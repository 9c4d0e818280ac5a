import { TELEMETRY_STRING_BYTES, TRUNCATION_MARKER } from '../../contract/telemetry.ts';

/** Most entries of one array or object, and most levels of nesting, that an event carries. */
const MAX_ENTRIES = 100;
const MAX_DEPTH = 40;
/** Most bytes of text in one event, all its strings together. */
const MAX_TEXT_BYTES = 64 * 1024;

/** Data within its bounds; `truncated` when something was cut or left out. */
export interface CutData {
  data: unknown;
  truncated: boolean;
}

/** Cuts each string of an event's data to its bound, and the data as a whole to what one event may carry. */
export function cutData(data: unknown): CutData {
  let truncated = false;
  let left = MAX_TEXT_BYTES;
  const cut = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') {
      const text = cutText(value, Math.min(TELEMETRY_STRING_BYTES, left));
      left -= Math.min(left, Buffer.byteLength(text));
      if (text !== value) truncated = true;
      return text;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH) {
      truncated = true;
      return null;
    }
    if (Array.isArray(value)) {
      if (value.length > MAX_ENTRIES) truncated = true;
      return value.slice(0, MAX_ENTRIES).map((item) => cut(item, depth + 1));
    }
    const entries = Object.entries(value);
    if (entries.length > MAX_ENTRIES) truncated = true;
    return Object.fromEntries(entries.slice(0, MAX_ENTRIES).map(([key, item]) => [key, cut(item, depth + 1)]));
  };
  return { data: cut(data, 0), truncated };
}

/** A text of at most so many bytes of UTF-8, cut between characters, its marker included. */
export function cutText(text: string, bytes: number = TELEMETRY_STRING_BYTES): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  const room = Math.max(0, bytes - TRUNCATION_MARKER.length);
  // Decoding ends before a character that is not whole.
  const head = Buffer.from(text.slice(0, room), 'utf8').subarray(0, room);
  return `${wholeCharacters(head)}${TRUNCATION_MARKER}`;
}

/** Decodes without the character that the end has cut in two. */
function wholeCharacters(bytes: Buffer): string {
  let end = bytes.length;
  // A byte of the form 10xxxxxx goes on with a character: step back to where that begins.
  let start = end - 1;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (start + length > end) end = start;
  const text = bytes.toString('utf8', 0, end);
  // Slicing a pair of surrogates in two leaves a replacement character.
  return text.endsWith('\u{fffd}') ? text.slice(0, -1) : text;
}
