import type { PageReading } from '../contract/reading.ts';
import { normalize } from './text/normalize.ts';

const REPLACEMENT = '•••';
/** So much of a secret tells that it is one, in what quotes the page cut short. */
const BEGINNING = 4;

/**
 * A reading without secrets that the page shows: every text of the site's, and what was made of them. Selectors stay as they
 * are; the reader makes them from names and places.
 */
export function redactSecrets(reading: PageReading, secrets: readonly string[]): PageReading {
  if (secrets.length === 0) return reading;
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  const clean = (text: string): string =>
    longestFirst.reduce((left, secret) => left.replaceAll(secret, REPLACEMENT), text);
  const cleanOrNull = (text: string | null): string | null => (text === null ? null : clean(text));
  const { evidence, forms, ...rest } = reading;
  // These quote the page cut short and in small letters: whatever begins like a secret is left out.
  const begins = secrets.map((secret) => normalize(secret).slice(0, BEGINNING));
  const isClear = (text: string): boolean => !begins.some((begin) => normalize(text).includes(begin));
  return {
    ...rest,
    ...(evidence === undefined ? {} : { evidence: isClear(evidence) ? evidence : 'the page shows a secret' }),
    ...(forms === undefined ? {} : { forms: forms.filter(isClear) }),
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

/** A text without what may tell of a person: addresses of mail, and numbers of four digits or more. */
export function redactPersonalData(text: string): string {
  return text.replace(/[^\s"]+@[^\s"]+/g, '…@…').replace(/\d[\d ().-]{2,}\d/g, '…');
}
