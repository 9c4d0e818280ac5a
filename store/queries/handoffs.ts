import type { Db } from '../database.ts';

/**
 * Handoff codes of the hosted page that were used. Codes are made and checked by the API without being stored; what the
 * store adds is that each is good once.
 */
export interface HandoffQueries {
  /**
   * One atomic insert: true for the first caller with that code, false for every later one. `expiresAt` is when the code
   * would have ended anyway, so from then on its row is not needed.
   */
  redeem(codeHash: Buffer, connectionId: string, flowId: string, expiresAt: Date): Promise<boolean>;
}

/** Queries of handoffs. */
export function createHandoffQueries(db: Db, clock: () => Date): HandoffQueries {
  return {
    redeem: async (codeHash, connectionId, flowId, expiresAt) => {
      const now = clock();
      const inserted = await db
        .insertInto('handoffs')
        .values({
          code_hash: codeHash,
          connection_id: connectionId,
          flow_id: flowId,
          created_at: now,
          expires_at: expiresAt,
          redeemed_at: now,
        })
        .onConflict((conflict) => conflict.column('code_hash').doNothing())
        .returning('code_hash')
        .executeTakeFirst();
      return inserted !== undefined;
    },
  };
}
