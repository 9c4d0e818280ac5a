import type { PageReading } from '../contract/reading.ts';
import { normalize } from './text/normalize.ts';

const REPLACEMENT = '•••';
/** Truncated quotes that contain this many first characters of a secret are removed. */
const PREFIX_LENGTH = 4;

/** Removes secrets that the page shows from all texts of a reading. Selectors are kept: they are built from names and positions. */
export function redactSecrets(reading: PageReading, secrets: readonly string[]): PageReading {
  if (secrets.length === 0) return reading;
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  const clean = (text: string): string =>
    longestFirst.reduce((left, secret) => left.replaceAll(secret, REPLACEMENT), text);
  const cleanOrNull = (text: string | null): string | null => (text === null ? null : clean(text));
  const { evidence, forms, ...rest } = reading;
  // Evidence and form keys quote the page truncated and in lower case, so they are matched by prefix.
  const prefixes = secrets.map((secret) => normalize(secret).slice(0, PREFIX_LENGTH));
  const isClean = (text: string): boolean => !prefixes.some((prefix) => normalize(text).includes(prefix));
  return {
    ...rest,
    ...(evidence === undefined ? {} : { evidence: isClean(evidence) ? evidence : 'the page shows a secret' }),
    ...(forms === undefined ? {} : { forms: forms.filter(isClean) }),
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

/** Removes e-mail addresses and numbers of four or more digits from a text. */
export function redactPersonalData(text: string): string {
  return text.replace(/[^\s"]+@[^\s"]+/g, '…@…').replace(/\d[\d ().-]{2,}\d/g, '…');
}
