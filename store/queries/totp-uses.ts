import type { Db } from '../database.ts';

/** Which TOTP periods of a credential have been used. */
export interface TotpUseQueries {
  /** True for the first caller of that period (`floor(unix seconds / period)`); a code is never sent twice in one. */
  claim(credentialId: string, periodCounter: number): Promise<boolean>;
}

/** Queries of TOTP uses. */
export function createTotpUseQueries(db: Db, clock: () => Date): TotpUseQueries {
  return {
    claim: async (credentialId, periodCounter) => {
      const row = await db
        .insertInto('totp_uses')
        .values({ credential_id: credentialId, period_counter: periodCounter, at: clock() })
        .onConflict((conflict) => conflict.columns(['credential_id', 'period_counter']).doNothing())
        .returning('credential_id')
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
