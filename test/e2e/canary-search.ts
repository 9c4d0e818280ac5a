import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Something that must not be found, by the name that a failing test shows. */
export interface Canary {
  name: string;
  value: string;
}

/** Something that was said or written, by the name that a failing test shows. */
export interface Haystack {
  name: string;
  bytes: Buffer;
}

/** Short values of digits alone stand by chance in any number: they count only where no other digit is beside them. */
const DIGITS = /^\d{1,9}$/;

/** Every spelling in which a text could lie in a file, by name. */
export function spellings(value: string): Record<string, Buffer> {
  const bytes = Buffer.from(value, 'utf8');
  const found: Record<string, Buffer> = {
    raw: bytes,
    hex: Buffer.from(bytes.toString('hex')),
    'hex in capitals': Buffer.from(bytes.toString('hex').toUpperCase()),
    'URL-encoded': Buffer.from(encodeURIComponent(value)),
    'form-encoded': Buffer.from(new URLSearchParams({ v: value }).toString().slice(2)),
    JSON: Buffer.from(JSON.stringify(value).slice(1, -1)),
    'JSON in JSON': Buffer.from(JSON.stringify(JSON.stringify(value)).slice(3, -3)),
    'JSON in ASCII': Buffer.from(asciiJson(value)),
    'UTF-16 LE': Buffer.from(value, 'utf16le'),
    'UTF-16 BE': Buffer.from(value, 'utf16le').swap16(),
  };
  // Base64 of a text depends on where in three bytes it begins; what its neighbours have a part in is left out.
  for (const shift of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const whole = (shift + bytes.length) % 3 === 0 ? text : text.slice(0, -1);
    const own = whole.slice(shift === 0 ? 0 : shift + 1);
    found[`base64 +${shift}`] = Buffer.from(own);
    found[`base64url +${shift}`] = Buffer.from(own.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return found;
}

/** A spelling of a canary, as it would lie in a file. */
interface Needle {
  /** What a hit is called: `password (base64 +1)`. */
  called: string;
  bytes: Buffer;
  /** Counts only between other characters. */
  alone: boolean;
}

/** Bytes that say where a spelling may begin: the whole search reads every file once, whatever the number of spellings. */
const START_BYTES = 4;
const BUCKETS = 2 ** 16;

/** Where which canary was found: `password (base64 +1) in logs/api.log`. Empty is good. A canary has four bytes or more. */
export function findCanaries(canaries: readonly Canary[], haystacks: readonly Haystack[]): string[] {
  const byStart = new Map<number, Needle[]>();
  const mayBegin = new Uint8Array(BUCKETS);
  for (const needle of canaries.flatMap(needlesOf)) {
    const start = needle.bytes.readInt32BE(0);
    byStart.set(start, [...(byStart.get(start) ?? []), needle]);
    mayBegin[bucketOf(start)] = 1;
  }
  const hits = new Set<string>();
  for (const { name, bytes } of haystacks) {
    let start = 0;
    for (let end = 1; end <= bytes.length; end += 1) {
      start = (start << 8) | (bytes[end - 1] ?? 0);
      if (mayBegin[bucketOf(start)] === 0 || end < START_BYTES) continue;
      for (const needle of byStart.get(start) ?? [])
        if (isAt(bytes, end - START_BYTES, needle)) hits.add(`${needle.called} in ${name}`);
    }
  }
  return [...hits];
}

function needlesOf({ name, value }: Canary): Needle[] {
  return Object.entries(spellings(value)).map(([spelling, bytes]) => ({
    called: `${name} (${spelling})`,
    bytes,
    alone: DIGITS.test(value) && !spelling.startsWith('UTF'),
  }));
}

function bucketOf(start: number): number {
  return (start ^ (start >>> 16)) & (BUCKETS - 1);
}

/** Every file below a folder, read whole. What vanishes meanwhile is left out. */
export async function filesBelow(
  folder: string,
  leaveOut: (name: string) => boolean = () => false,
): Promise<Haystack[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files
    .map((file) => ({ file, name: relative(folder, file) }))
    .filter(({ name }) => !leaveOut(name))
    .map(async ({ file, name }) => ({ name, bytes: await readFile(file).catch(() => Buffer.alloc(0)) }));
  return await Promise.all(read);
}

function isAt(haystack: Buffer, at: number, { bytes, alone }: Needle): boolean {
  const end = at + bytes.length;
  if (end > haystack.length || haystack.compare(bytes, 0, bytes.length, at, end) !== 0) return false;
  return !alone || (!isWordByte(haystack[at - 1]) && !isWordByte(haystack[end]));
}

function isWordByte(byte: number | undefined): boolean {
  return byte !== undefined && /[\w.+/=-]/.test(String.fromCharCode(byte));
}

function asciiJson(value: string): string {
  return JSON.stringify(value)
    .slice(1, -1)
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
