import { StringDecoder } from 'node:string_decoder';
import { TELEMETRY_STRING_BYTES, TRUNCATION_MARKER } from '../../contract/telemetry.ts';

/** Most entries of one array or object, most levels of nesting, and most values in all, that an event carries. */
const MAX_ENTRIES = 100;
const MAX_DEPTH = 40;
const MAX_VALUES = 2000;
/** Longest name of an entry, in characters: names of headers are a site's words too. */
const MAX_NAME = 256;
/** Most bytes of text in one event, all its strings together. */
const MAX_TEXT_BYTES = 64 * 1024;

/** Data within its bounds; `truncated` when something was cut or left out. */
export interface TruncatedData {
  data: unknown;
  truncated: boolean;
}

/** Cuts each string of an event's data to its bound, and the data as a whole to what one event may carry. */
export function truncateData(data: unknown): TruncatedData {
  let truncated = false;
  let left = MAX_TEXT_BYTES;
  let values = 0;
  const cut = (value: unknown, depth: number): unknown => {
    values += 1;
    if (typeof value === 'string') {
      const text = truncateText(value, Math.min(TELEMETRY_STRING_BYTES, left));
      left -= Math.min(left, Buffer.byteLength(text));
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

/** A text of at most so many bytes of UTF-8, cut between characters, its marker included. */
export function truncateText(text: string, bytes: number = TELEMETRY_STRING_BYTES): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  const room = Math.max(0, bytes - TRUNCATION_MARKER.length);
  const head = Buffer.from(text.slice(0, room), 'utf8').subarray(0, room);
  // This decoder keeps back a character that the end has cut in two.
  return `${new StringDecoder('utf8').write(head)}${TRUNCATION_MARKER}`;
}
