import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** A value that must not be found; a failing test shows its name. */
export interface Canary {
  name: string;
  value: string;
}

/** A response or file to search; a failing test shows its name. */
export interface Haystack {
  name: string;
  bytes: Buffer;
}

/** Short digit sequences occur in other numbers by chance; they count only as a separate word. */
const DIGITS = /^\d{1,9}$/;

/** All encodings in which a text may occur, by name. */
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
  // Base64 depends on the position within three bytes; characters that include neighboring bytes are left out.
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

/** One encoding of a canary. */
interface Needle {
  /** `password (base64 +1)` */
  label: string;
  bytes: Buffer;
  /** Counts only as a separate word. */
  isWord: boolean;
}

/** Prefix that selects candidates, so that every file is read once whatever the number of encodings. */
const START_BYTES = 4;
const BUCKETS = 2 ** 16;

/** All finds, such as `password (base64 +1) in logs/api.log`. A canary must have at least four bytes. */
export function findCanaries(canaries: readonly Canary[], haystacks: readonly Haystack[]): string[] {
  const byStart = new Map<number, Needle[]>();
  const isCandidate = new Uint8Array(BUCKETS);
  for (const needle of canaries.flatMap(needlesOf)) {
    const start = needle.bytes.readInt32BE(0);
    byStart.set(start, [...(byStart.get(start) ?? []), needle]);
    isCandidate[bucketOf(start)] = 1;
  }
  const hits = new Set<string>();
  for (const { name, bytes } of haystacks) {
    let start = 0;
    for (let end = 1; end <= bytes.length; end += 1) {
      start = (start << 8) | (bytes[end - 1] ?? 0);
      if (isCandidate[bucketOf(start)] === 0 || end < START_BYTES) continue;
      for (const needle of byStart.get(start) ?? [])
        if (isAt(bytes, end - START_BYTES, needle)) hits.add(`${needle.label} in ${name}`);
    }
  }
  return [...hits];
}

function needlesOf({ name, value }: Canary): Needle[] {
  return Object.entries(spellings(value)).map(([spelling, bytes]) => ({
    label: `${name} (${spelling})`,
    bytes,
    isWord: DIGITS.test(value) && !spelling.startsWith('UTF'),
  }));
}

function bucketOf(start: number): number {
  return (start ^ (start >>> 16)) & (BUCKETS - 1);
}

/** Reads every file below a folder. Files that disappear meanwhile are left empty. */
export async function filesBelow(
  folder: string,
  isExcluded: (name: string) => boolean = () => false,
): Promise<Haystack[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files
    .map((file) => ({ file, name: relative(folder, file) }))
    .filter(({ name }) => !isExcluded(name))
    .map(async ({ file, name }) => ({ name, bytes: await readFile(file).catch(() => Buffer.alloc(0)) }));
  return await Promise.all(read);
}

function isAt(haystack: Buffer, at: number, { bytes, isWord }: Needle): boolean {
  const end = at + bytes.length;
  if (end > haystack.length || haystack.compare(bytes, 0, bytes.length, at, end) !== 0) return false;
  return !isWord || (!isWordByte(haystack[at - 1]) && !isWordByte(haystack[end]));
}

function isWordByte(byte: number | undefined): boolean {
  return byte !== undefined && /[\w.+/=-]/.test(String.fromCharCode(byte));
}

function asciiJson(value: string): string {
  return JSON.stringify(value)
    .slice(1, -1)
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
