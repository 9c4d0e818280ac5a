import { toUSVString } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import type { PageReading } from '../../../contract/reading.ts';
import { redactSecrets } from '../../../reader/redact.ts';

/** Shorter values are part of too many other words to be searched for. */
const MIN_LENGTH = 4;

/** Spellings of what was typed into the pages of a browser, for as long as this worker is connected to it. */
const typedInto = new WeakMap<BrowserContext, Set<string>>();

/** Records the {@link secretSpellings} of what is about to be typed into a page, for {@link redactTypedSecrets}. */
export function recordTypedSecrets(page: Page, spellings: readonly string[]): void {
  typedInto.set(page.context(), new Set([...typedSecrets(page), ...spellings]));
}

/** Spellings of what was typed into the page's browser. */
export function typedSecrets(page: Page): ReadonlySet<string> {
  return typedInto.get(page.context()) ?? new Set();
}

/**
 * Redacts what was typed into the page's browser from a reading: a site may repeat a password or code in an error, title, or URL,
 * even steps later. Selectors are not changed: the reader builds them from names and positions.
 */
export function redactTypedSecrets(page: Page, reading: PageReading): PageReading {
  return redactSecrets(reading, [...typedSecrets(page)]);
}

/** Secrets as written in texts, URLs, and forms, without those that are too short. */
export function secretSpellings(values: readonly string[]): string[] {
  return values
    .filter((value) => value.trim().length >= MIN_LENGTH)
    .flatMap((value) => [value, value.trim(), encodeURIComponent(toUSVString(value)), formEncoded(value)]);
}

/** Secrets as scripts send them: in JSON, and in base64 at any offset of a larger text. */
export function requestSpellings(values: readonly string[]): string[] {
  return values
    .filter((value) => value.trim().length >= MIN_LENGTH)
    .flatMap((value) => [JSON.stringify(value).slice(1, -1), ...[0, 1, 2].map((offset) => inBase64(value, offset))]);
}

/** The base64 characters that a text alone determines, `offset` bytes after a group of three. */
function inBase64(value: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
  return bytes.toString('base64').slice(Math.ceil((offset * 4) / 3), Math.floor((bytes.length * 4) / 3));
}

function formEncoded(value: string): string {
  return new URLSearchParams({ value }).toString().slice('value='.length);
}
