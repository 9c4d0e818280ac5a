import { createHash } from 'node:crypto';

/** How long a repeated exchange gets the first one's result, in milliseconds: a phone may lose the response and retry. */
const REMEMBERED_MS = 2 * 60_000;
/** Maximum results kept; the oldest is evicted first. */
const MAX_REMEMBERED = 2_000;

export interface Exchanged {
  jwt: string;
  flowId: string;
}

/** Deduplicates exchanges of a handoff code. */
export interface ExchangeRetries {
  run(
    key: { connectionId: string; code: string; attempt: string },
    redeem: () => Promise<Exchanged>,
  ): Promise<Exchanged>;
}

/**
 * A code can be redeemed once, but the response may be lost in transit. `attempt` is a secret the page created before sending the
 * code, so only the same page in the same browser can retry; anyone else gets the store's "used" error. Kept in this process
 * only: behind a load balancer, a retry may reach another process and has to start over.
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
      evictOld(results, now());
      result.catch(() => results.delete(key));
      return result;
    },
  };
}

function evictOld(results: Map<string, { until: number }>, now: number): void {
  for (const [key, { until }] of results) {
    if (until > now && results.size <= MAX_REMEMBERED) break;
    results.delete(key);
  }
}
