import { StringDecoder } from 'node:string_decoder';
import { TELEMETRY_STRING_BYTES, TRUNCATION_MARKER } from '../../contract/telemetry.ts';

/** Limits of an event's data: entries per array or object, nesting depth, and values in total. */
const MAX_ENTRIES = 100;
const MAX_DEPTH = 40;
const MAX_VALUES = 2000;
/** Longest name of an entry, in characters: header names are controlled by sites too. */
const MAX_NAME = 256;
/** Maximum text of an event, all strings together. */
const MAX_TEXT_BYTES = 64 * 1024;

/** Truncates each string of an event's data, and the data as a whole, to their limits. */
export function truncateData(data: unknown): { data: unknown; truncated: boolean } {
  let truncated = false;
  let remaining = MAX_TEXT_BYTES;
  let values = 0;
  const cut = (value: unknown, depth: number): unknown => {
    values += 1;
    if (typeof value === 'string') {
      const text = truncateText(value, Math.min(TELEMETRY_STRING_BYTES, remaining));
      remaining -= Math.min(remaining, Buffer.byteLength(text));
      if (text !== value) truncated = true;
      return text;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH || values > MAX_VALUES) {
      truncated = true;
      return null;
    }
    if (Array.isArray(value)) {
      if (value.length > MAX_ENTRIES) truncated = true;
      return value.slice(0, MAX_ENTRIES).map((item) => cut(item, depth + 1));
    }
    const entries = Object.entries(value);
    if (entries.length > MAX_ENTRIES) truncated = true;
    return Object.fromEntries(entries.slice(0, MAX_ENTRIES).map(([key, item]) => [cutName(key), cut(item, depth + 1)]));
  };
  const cutName = (name: string): string => {
    if (name.length > MAX_NAME) truncated = true;
    return name.slice(0, MAX_NAME);
  };
  return { data: cut(data, 0), truncated };
}

/** Truncates a text to at most `bytes` bytes of UTF-8 between characters, including the truncation marker. */
export function truncateText(text: string, bytes: number = TELEMETRY_STRING_BYTES): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  const room = Math.max(0, bytes - TRUNCATION_MARKER.length);
  const head = Buffer.from(text.slice(0, room), 'utf8').subarray(0, room);
  // The decoder drops a character that was cut in two.
  return `${new StringDecoder('utf8').write(head)}${TRUNCATION_MARKER}`;
}
