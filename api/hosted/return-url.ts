/**
 * Where a person goes when the flow has ended. The same rules run on the server and in the page, so this file uses
 * nothing but the URL class.
 */

/** Longest address that is accepted, in characters: what browsers and proxies carry without cutting. */
const MAX_RETURN_URL_LENGTH = 2048;

/** The address in its one spelling when a person may be sent there, else null: absolute, http or https, no user part. */
export function acceptReturnUrl(value: string | null | undefined): string | null {
  if (!value || value.length > MAX_RETURN_URL_LENGTH || !/^https?:\/\//i.test(value)) return null;
  try {
    const url = new URL(value);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
    return url.username === '' && url.password === '' ? url.href : null;
  } catch {
    return null;
  }
}

/** `base` with `params` added. Its own query, in the same order and spelling, and its fragment stay. */
export function withParams(base: string, params: Record<string, string>): string {
  const url = new URL(base);
  // 1. Parameters of ours that are there already go: an answer never carries two values of one name.
  const kept = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !Object.hasOwn(params, decodeName(pair)));
  // 2. The rest is not parsed and written again: that would change `%20` to `+` and the like.
  const added = new URLSearchParams(params).toString();
  url.search = [...kept, added].filter(Boolean).join('&');
  return url.href;
}

function decodeName(pair: string): string {
  const name = pair.split('=', 1)[0] ?? '';
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}
