import type { Db } from '../database.ts';
import { affectsRow, findOne } from '../scope.ts';
import { hashSecretToken } from '../secret-tokens.ts';

/** The state of one record as JSON, without its id, which may be a token. */
type OAuthPayload = Record<string, unknown>;

/**
 * Temporary state of the authorization server: clients, requests awaiting a user, codes, refresh tokens. Stored under the
 * hash of the id, which for a code or token is the code or token itself.
 */
export interface OAuthRecordQueries {
  save(
    model: string,
    id: string,
    record: { payload: OAuthPayload; grantId: string | null; expiresAt: Date },
  ): Promise<void>;
  find(model: string, id: string): Promise<{ payload: OAuthPayload; consumedAt: Date | null } | null>;
  /** Marks a record as used. True only for the first of concurrent callers. */
  consume(model: string, id: string): Promise<boolean>;
  remove(model: string, id: string): Promise<void>;
  /** Ends a grant, and removes all its records. */
  removeGrant(grantId: string): Promise<void>;
  /** Extends the lifetime of a record. */
  extend(model: string, id: string, expiresAt: Date): Promise<void>;
}

/** Queries of the authorization server's records. */
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
    find: (model, id) =>
      findOne(
        db
          .selectFrom('oauth_records')
          .select(['payload', 'consumed_at as consumedAt'])
          .where('model', '=', model)
          .where('id_hash', '=', hashSecretToken(id))
          .where('expires_at', '>', clock()),
        (record) => record,
      ),
    consume: (model, id) =>
      affectsRow(
        db
          .updateTable('oauth_records')
          .set({ consumed_at: clock() })
          .where('model', '=', model)
          .where('id_hash', '=', hashSecretToken(id))
          .where('consumed_at', 'is', null),
      ),
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
    extend: async (model, id, expiresAt) => {
      await db
        .updateTable('oauth_records')
        .set({ expires_at: expiresAt })
        .where('model', '=', model)
        .where('id_hash', '=', hashSecretToken(id))
        .execute();
    },
  };
}
