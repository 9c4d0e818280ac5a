import { toUSVString } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import type { PageReading } from '../../../contract/reading.ts';
import { withoutSecrets } from '../../../reader/without-secrets.ts';

/** Values shorter than this stand in too many other words to be looked for. */
const SHORTEST = 4;

/** What has been typed into the pages of a browser, for as long as this worker is connected to it. */
const typedInto = new WeakMap<BrowserContext, Set<string>>();

/** Remembers {@link secretSpellings} of what is about to be typed into a page, for {@link redactTypedSecrets}. */
export function recordTypedSecrets(page: Page, spellings: readonly string[]): void {
  typedInto.set(page.context(), new Set([...typedSecrets(page), ...spellings]));
}

/** Spellings of what was typed into the page's browser. */
export function typedSecrets(page: Page): ReadonlySet<string> {
  return typedInto.get(page.context()) ?? new Set();
}

/**
 * A reading without what was typed into the page's browser: a site may repeat a password or a code in its complaint, its title or its
 * address, steps later, too. Selectors stay as they are; the reader makes them from names and places.
 */
export function redactTypedSecrets(page: Page, reading: PageReading): PageReading {
  return withoutSecrets(reading, [...typedSecrets(page)]);
}

/** Secrets as texts, addresses and forms spell them; without those that are too short to be looked for. */
export function secretSpellings(values: readonly string[]): string[] {
  return values
    .filter((value) => value.trim().length >= SHORTEST)
    .flatMap((value) => [value, value.trim(), encodeURIComponent(toUSVString(value)), formEncoded(value)]);
}

/** Secrets as scripts spell them besides, in JSON and in base64 (of whatever they are part of). */
export function requestSpellings(values: readonly string[]): string[] {
  return values
    .filter((value) => value.trim().length >= SHORTEST)
    .flatMap((value) => [JSON.stringify(value).slice(1, -1), ...[0, 1, 2].map((offset) => inBase64(value, offset))]);
}

/** What a text is in the base64 of another, `offset` bytes after a group of three: without the letters that it shares with others. */
function inBase64(value: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
  return bytes.toString('base64').slice(Math.ceil((offset * 4) / 3), Math.floor((bytes.length * 4) / 3));
}

function formEncoded(value: string): string {
  return new URLSearchParams({ value }).toString().slice('value='.length);
}
