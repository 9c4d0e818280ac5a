import { toUSVString } from 'node:util';
import type { FieldEntry } from '../../contract/activities.ts';
import type { PageReading } from '../../contract/reading.ts';
import { withoutSecrets } from '../../reader/without-secrets.ts';

/** Values shorter than this stand in too many other words to be looked for. */
const SHORTEST = 4;

/**
 * A reading without what was just typed: a site may repeat a password or a code in its complaint, its title or its address.
 * User names stay: they are what a person must see to know which account is meant. Selectors stay as they are; the reader
 * makes them from names and places.
 */
export function withoutTyped(reading: PageReading, entries: FieldEntry[], values: string[]): PageReading {
  const secrets = entries
    .flatMap(({ field }, index) => (field.type === 'identifier' ? [] : [values[index] ?? '']))
    .filter((value) => value.trim().length >= SHORTEST)
    .flatMap((value) => [value, value.trim(), encodeURIComponent(toUSVString(value)), formEncoded(value)]);
  return withoutSecrets(reading, secrets);
}

function formEncoded(value: string): string {
  return new URLSearchParams({ value }).toString().slice('value='.length);
}
