import { withoutPersonal } from './mask.ts';
import type { Reason } from './understand.ts';

/** Longest evidence of a reading, in characters. */
const MAX_EVIDENCE = 600;
const MAX_REASON = 160;

/**
 * Why a page was read as it was, in a few words for whoever looks into a login that failed: what the page is first, then what
 * was taken and what was left out. It quotes the site's words, without addresses of people and long numbers.
 */
export function evidenceOf(reasons: readonly Reason[]): string {
  const parts = reasons.map(({ what, why }) => `${what}: ${why}`.slice(0, MAX_REASON));
  return withoutPersonal([...new Set(parts)].join(' · ')).slice(0, MAX_EVIDENCE);
}
