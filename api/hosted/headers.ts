import { ANSWER_HEADERS } from '../../http/headers.ts';
import type { PageParts } from './page-parts.ts';

/** Headers of every answer below `/login/`: nothing is kept, sniffed or told to another site. */
export const COMMON_HEADERS = {
  ...ANSWER_HEADERS,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'x-robots-tag': 'noindex, nofollow',
} as const;

/** For answers that are data: should a browser ever render one, it can do nothing. */
export const DATA_CSP = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/**
 * The page may run its own script and style, both known by hash, and talk to its own origin. Nothing else.
 * @param framers origins of pages that may show it in a frame.
 */
export function pageCsp(parts: PageParts, framers: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${parts.scriptSource}`,
    `style-src ${parts.styleSource}`,
    // The icon in the tab is a data URL.
    'img-src data:',
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${framers.length === 0 ? "'none'" : framers.join(' ')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
