import { DE } from './words-de.ts';
import { EN, type Words } from './words-en.ts';

/** The texts in the page's language, chosen by the server (`lang` of the document). */
export const words: Words = document.documentElement.lang === 'de' ? DE : EN;

/** Fills `{name}` placeholders. Unknown ones are kept. */
export function fill(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (place, name: string) => {
    return Object.hasOwn(values, name) ? String(values[name]) : place;
  });
}

/** Text for a failed flow's `error_code`; null for a code this page does not know. */
export function failureText(code: string | null): string | null {
  const texts: Record<string, string> = words.failure;
  return code !== null && Object.hasOwn(texts, code) ? (texts[code] ?? null) : null;
}
