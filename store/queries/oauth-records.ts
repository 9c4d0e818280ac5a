import type { Db } from '../database.ts';
import { hashSecretToken } from '../secret-tokens.ts';

/** What the authorization server keeps of one thing, as JSON: its id, which may be a token, is not in it. */
export type OAuthPayload = Record<string, unknown>;

/**
 * What the authorization server keeps for a time: clients, requests that wait for a person, codes, refresh tokens. Found by the
 * hash of its id, which for a code or a token is the code or the token itself.
 */
export interface OAuthRecordQueries {
  save(
    model: string,
    id: string,
    record: { payload: OAuthPayload; grantId: string | null; expiresAt: Date },
  ): Promise<void>;
  find(model: string, id: string): Promise<{ payload: OAuthPayload; consumedAt: Date | null } | null>;
  /** Marks as used. True for the first caller alone, of any number at the same moment. */
  consume(model: string, id: string): Promise<boolean>;
  remove(model: string, id: string): Promise<void>;
  /** Ends a grant, and removes all that came of it. */
  removeGrant(grantId: string): Promise<void>;
  /** Keeps a record until then. */
  prolong(model: string, id: string, expiresAt: Date): Promise<void>;
}

/** Queries of what the authorization server keeps. */
export function createOAuthRecordQueries(db: Db, clock: () => Date): OAuthRecordQueries {
  return {
    save: async (model, id, { payload, grantId, expiresAt }) => {
      const changing = { payload: JSON.stringify(payload), grant_id: grantId, expires_at: expiresAt };
      await db
        .insertInto('oauth_records')
        .values({ model, id_hash: hashSecretToken(id), consumed_at: null, ...changing })
        .onConflict((conflict) => conflict.columns(['model', 'id_hash']).doUpdateSet(changing))
        .execute();
    },
    find: async (model, id) => {
      const row = await db
        .selectFrom('oauth_records')
        .select(['payload', 'consumed_at'])
        .where('model', '=', model)
        .where('id_hash', '=', hashSecretToken(id))
        .where('expires_at', '>', clock())
        .executeTakeFirst();
      return row === undefined ? null : { payload: row.payload, consumedAt: row.consumed_at };
    },
    consume: async (model, id) => {
      const { numUpdatedRows } = await db
        .updateTable('oauth_records')
        .set({ consumed_at: clock() })
        .where('model', '=', model)
        .where('id_hash', '=', hashSecretToken(id))
        .where('consumed_at', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    remove: async (model, id) => {
      await db
        .deleteFrom('oauth_records')
        .where('model', '=', model)
        .where('id_hash', '=', hashSecretToken(id))
        .execute();
    },
    removeGrant: async (grantId) => {
      await db.deleteFrom('oauth_grants').where('id', '=', grantId).execute();
      await db.deleteFrom('oauth_records').where('grant_id', '=', grantId).execute();
    },
    prolong: async (model, id, expiresAt) => {
      await db
        .updateTable('oauth_records')
        .set({ expires_at: expiresAt })
        .where('model', '=', model)
        .where('id_hash', '=', hashSecretToken(id))
        .execute();
    },
  };
}
