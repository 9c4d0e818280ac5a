/** Return URLs after a flow. The same rules run on the server and in the page, so this file uses nothing but the URL class. */

/** Maximum length in characters: what browsers and proxies carry without truncation. */
const MAX_RETURN_URL_LENGTH = 2048;

/** The normalized URL if a person may be sent there, else null: absolute, http or https, without user info. */
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

/** Adds `params` to `base`. Its own query keeps its order and encoding; its fragment is kept. */
export function withParams(base: string, params: Record<string, string>): string {
  const url = new URL(base);
  // 1. Replace our own parameters: no name may occur twice.
  const kept = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !Object.hasOwn(params, decodeName(pair)));
  // 2. Keep the rest as it is: parsing and serializing would change `%20` to `+` and the like.
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
