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

export const at = (params: Params, name: string): unknown => (Object.hasOwn(params, name) ? params[name] : undefined);
export const int =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return Number.isSafeInteger(value) ? value : undefined;
  };
export const real =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  };
export const flag =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return typeof value === 'boolean' ? value : undefined;
  };
/** Reads a known word; any other value becomes `other`. */
export const word =
  (name: string, words: readonly string[]): Reader =>
  (params) => {
    const value = at(params, name);
    if (value === undefined) return undefined;
    return typeof value === 'string' && words.includes(value) ? value : 'other';
  };
/** Like {@link word}, for a required field. */
export const oneOf =
  (name: string, words: readonly string[]): Reader =>
  (params) =>
    word(name, words)(params) ?? 'other';
/** Reads only the length of a text, in characters. */
export const lengthOf =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return typeof value === 'string' ? countCharacters(value) : undefined;
  };
export const countOf =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return Array.isArray(value) ? value.length : undefined;
  };
/** Reads only whether a text is given. */
export const present =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return value === undefined ? undefined : typeof value === 'string' && value !== '';
  };
export const id =
  (name: string): Reader =>
  (params) =>
    identifier(at(params, name));
/** Reads a field of a nested object. */
export const within =
  (name: string, reader: Reader): Reader =>
  (params) =>
    reader(record(at(params, name)));

/** Reads only the scheme of a URL. */
export const scheme =
  (name: string): Reader =>
  (params) => {
    const url = at(params, name);
    if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
    return new URL(url).protocol.slice(0, -1).slice(0, URL_SCHEME_LENGTH);
  };

/** Summaries by method. */
export type CommandTable = Partial<Record<CdpCommandMethod, Partial<Summary>>>;

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
