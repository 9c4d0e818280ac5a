import { ANSWER_HEADERS } from '../../http/headers.ts';
import type { PageParts } from './page-parts.ts';

/** Headers of every response below `/login/`: no caching, sniffing or referrers. */
export const COMMON_HEADERS = {
  ...ANSWER_HEADERS,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'x-robots-tag': 'noindex, nofollow',
} as const;

/** CSP for data responses: inert even if a browser renders them. */
export const DATA_CSP = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** CSP of the page: only its own script and style, allowed by hash, and requests to its own origin. */
export function pageCsp(parts: PageParts, framers: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${parts.scriptSource}`,
    `style-src ${parts.styleSource}`,
    // The favicon is a data URL.
    'img-src data:',
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${framers.length === 0 ? "'none'" : framers.join(' ')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
