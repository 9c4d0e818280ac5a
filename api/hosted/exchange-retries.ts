import { createHash } from 'node:crypto';

/** How long a repeated exchange gets the first one's result, in milliseconds: a phone's lost answer and its retry. */
const REMEMBERED_MS = 2 * 60_000;
/** Most results held at once; the oldest goes first. */
const MAX_REMEMBERED = 2_000;

/** Result of an exchange. */
export interface Exchanged {
  jwt: string;
  flowId: string;
}

/** {@link createExchangeRetries} */
export interface ExchangeRetries {
  run(
    key: { connectionId: string; code: string; attempt: string },
    redeem: () => Promise<Exchanged>,
  ): Promise<Exchanged>;
}

/**
 * A code is good once, but the answer to the one good request can be lost on the way. `attempt` is a secret that the page
 * made before it sent the code, so only the same page in the same browser can ask again; anyone else with the same code
 * meets the store's "used". Held in this process alone: behind several, a retry may meet another one and must start over.
 */
export function createExchangeRetries(now: () => number = Date.now): ExchangeRetries {
  const results = new Map<string, { result: Promise<Exchanged>; until: number }>();
  return {
    run({ connectionId, code, attempt }, redeem) {
      const key = createHash('sha256').update([connectionId, code, attempt].join('\n')).digest('base64url');
      const known = results.get(key);
      if (known && known.until > now()) return known.result;
      const result = redeem();
      results.set(key, { result, until: now() + REMEMBERED_MS });
      forgetOld(results, now());
      result.catch(() => results.delete(key));
      return result;
    },
  };
}

function forgetOld(results: Map<string, { until: number }>, now: number): void {
  for (const [key, { until }] of results) {
    if (until > now && results.size <= MAX_REMEMBERED) break;
    results.delete(key);
  }
}
