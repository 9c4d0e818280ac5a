import type { CdpCommandMethod } from '../../../contract/telemetry-commands.ts';
import { TELEMETRY_ID_LENGTH, URL_SCHEME_LENGTH } from '../../../contract/telemetry-commands.ts';

export type Params = Record<string, unknown>;
/** Reads a field from a command's parameters; undefined if it is missing or invalid. */
export type Reader = (params: Params) => unknown;
/** Fields of a command's summary. */
export interface Summary {
  required: Record<string, Reader>;
  optional: Record<string, Reader>;
}

/** Summaries by method. */
export type CommandTable = Partial<Record<CdpCommandMethod, Partial<Summary>>>;

/** A parameter's value; undefined if it is missing. */
export const at = (params: Params, name: string): unknown => (Object.hasOwn(params, name) ? params[name] : undefined);

/** Makes a kind of reader from what it reads of a parameter's value. */
const readerOf =
  (read: (value: unknown) => unknown) =>
  (name: string): Reader =>
  (params) =>
    read(at(params, name));

export const int = readerOf((value) => (Number.isSafeInteger(value) ? value : undefined));
export const real = readerOf((value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined));
export const flag = readerOf((value) => (typeof value === 'boolean' ? value : undefined));
export const id = readerOf(identifier);
export const countOf = readerOf((value) => (Array.isArray(value) ? value.length : undefined));
/** Reads only the length of a text, in characters. */
export const lengthOf = readerOf((value) => (typeof value === 'string' ? countCharacters(value) : undefined));
/** Reads only whether a text is given. */
export const present = readerOf((value) =>
  value === undefined ? undefined : typeof value === 'string' && value !== '',
);
/** Reads only the scheme of a URL. */
export const scheme = readerOf((value) => {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
  return new URL(value).protocol.slice(0, -1).slice(0, URL_SCHEME_LENGTH);
});

/** Reads a known word; any other value becomes `other`. */
export const word = (name: string, words: readonly string[]): Reader =>
  readerOf((value) => {
    if (value === undefined) return undefined;
    return typeof value === 'string' && words.includes(value) ? value : 'other';
  })(name);
/** Like {@link word}, for a required field. */
export const oneOf =
  (name: string, words: readonly string[]): Reader =>
  (params) =>
    word(name, words)(params) ?? 'other';

/** Reads a field of a nested object. */
export const within =
  (name: string, reader: Reader): Reader =>
  (params) =>
    reader(record(at(params, name)));

/** An identifier, cut to its maximum length; undefined if it contains other characters than ids do. */
export function identifier(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^[\w.:{}-]+$/.test(value)) return undefined;
  return value.slice(0, TELEMETRY_ID_LENGTH);
}

/** Counts a surrogate pair as one character. */
function countCharacters(text: string): number {
  let pairs = 0;
  for (let index = 0; index < text.length - 1; index += 1) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) pairs += 1;
  }
  return text.length - pairs;
}

export function record(value: unknown): Params {
  return typeof value === 'object' && value !== null ? (value as Params) : {};
}
