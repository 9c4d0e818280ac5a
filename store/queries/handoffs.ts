import { createHash, randomBytes } from 'node:crypto';
import { HANDOFF_LIFETIME_MS } from '../../contract/limits.ts';
import type { Db } from '../database.ts';

/** What became of a code. */
export type HandoffOutcome =
  { outcome: 'ok'; flowId: string } | { outcome: 'used' } | { outcome: 'expired' } | { outcome: 'unknown' };

/** Handoff codes of the hosted page: 256 random bits, stored as a hash, good once. */
export interface HandoffQueries {
  /** The code, base64url. */
  create(connectionId: string, flowId: string): Promise<string>;
  /** One atomic update: of any number of callers at once one gets `ok`. */
  redeem(code: string, connectionId: string): Promise<HandoffOutcome>;
}

/** Queries of handoffs. */
export function createHandoffQueries(db: Db, clock: () => Date): HandoffQueries {
  return {
    create: async (connectionId, flowId) => {
      const code = randomBytes(32).toString('base64url');
      const now = clock();
      await db
        .insertInto('handoffs')
        .values({
          code_hash: hash(code),
          connection_id: connectionId,
          flow_id: flowId,
          created_at: now,
          expires_at: new Date(now.getTime() + HANDOFF_LIFETIME_MS),
          redeemed_at: null,
        })
        .execute();
      return code;
    },
    redeem: async (code, connectionId) => {
      const now = clock();
      const redeemed = await db
        .updateTable('handoffs')
        .set({ redeemed_at: now })
        .where('code_hash', '=', hash(code))
        .where('connection_id', '=', connectionId)
        .where('redeemed_at', 'is', null)
        .where('expires_at', '>', now)
        .returning('flow_id')
        .executeTakeFirst();
      if (redeemed !== undefined) return { outcome: 'ok', flowId: redeemed.flow_id };
      const row = await db
        .selectFrom('handoffs')
        .select('redeemed_at')
        .where('code_hash', '=', hash(code))
        .where('connection_id', '=', connectionId)
        .executeTakeFirst();
      if (row === undefined) return { outcome: 'unknown' };
      return { outcome: row.redeemed_at === null ? 'expired' : 'used' };
    },
  };
}

/** 256 random bits need no salt, and finding a row by their hash tells a listener of timings nothing. */
function hash(code: string): Buffer {
  return createHash('sha256').update(code, 'utf8').digest();
}
