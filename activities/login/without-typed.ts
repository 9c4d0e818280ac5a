import { toUSVString } from 'node:util';
import type { FieldEntry } from '../../contract/activities.ts';
import type { PageReading } from '../../contract/reading.ts';

/** Values shorter than this stand in too many other words to be looked for. */
const SHORTEST = 4;
const REPLACEMENT = '•••';

/**
 * A reading without what was just typed: a site may repeat a password or a code in its complaint, its title or its address.
 * User names stay: they are what a person must see to know which account is meant. Selectors stay as they are; the reader
 * makes them from names and places.
 */
export function withoutTyped(reading: PageReading, entries: FieldEntry[], values: string[]): PageReading {
  const secrets = entries
    .flatMap(({ field }, index) => (field.type === 'identifier' ? [] : [values[index] ?? '']))
    .filter((value) => value.trim().length >= SHORTEST)
    .flatMap((value) => [value, value.trim(), encodeURIComponent(toUSVString(value)), formEncoded(value)])
    .sort((a, b) => b.length - a.length);
  if (secrets.length === 0) return reading;
  const clean = (text: string): string => secrets.reduce((left, secret) => left.replaceAll(secret, REPLACEMENT), text);
  const cleanOrNull = (text: string | null): string | null => (text === null ? null : clean(text));
  return {
    ...reading,
    url: clean(reading.url),
    title: clean(reading.title),
    website_error: cleanOrNull(reading.website_error),
    external_action_message: cleanOrNull(reading.external_action_message),
    fields: reading.fields.map((field) => ({
      ...field,
      label: clean(field.label),
      placeholder: cleanOrNull(field.placeholder),
      hint: cleanOrNull(field.hint),
    })),
    choices: reading.choices.map((choice) => ({
      ...choice,
      label: clean(choice.label),
      description: cleanOrNull(choice.description),
      masked_destination: cleanOrNull(choice.masked_destination),
    })),
  };
}

function formEncoded(value: string): string {
  return new URLSearchParams({ value }).toString().slice('value='.length);
}
