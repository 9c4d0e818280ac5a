import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import type { SealedPlace } from '../vault/seal.ts';
import { parseValues, type Vault } from '../vault/vault.ts';

/** Maximum lifetime of submitted values, which may contain one-time codes. */
const MAX_LIFETIME_MS = 10 * 60_000;
/** The same for values without codes, which are held until a login verifies them: the lifetime of a flow, with a margin. */
const MAX_LIFETIME_WITHOUT_CODES_MS = 25 * 60_000;

/** The values of a submission. Only for the typing activity. */
interface OpenedSubmission {
  connectionId: string;
  interactionId: string;
  values: Record<string, string>;
}

/** Submissions: a person's input, sealed under the connection's data key until it is typed into the site. */
export interface SubmissionQueries {
  /**
   * Seals values. Throws `not_found` if the connection was removed. The same values for the same interaction (a client
   * that retries) return the same id with `duplicate: true`, even after `destroy`. `expiresAt` is capped to
   * {@link MAX_LIFETIME_MS} from now; with `withoutCodes` to {@link MAX_LIFETIME_WITHOUT_CODES_MS}.
   */
  seal(input: {
    connectionId: string;
    interactionId: string;
    values: Record<string, string>;
    expiresAt: Date;
    withoutCodes?: boolean;
  }): Promise<{ submissionId: string; duplicate: boolean }>;
  /** Id of the latest available submission of an interaction; null if there is none. */
  find(connectionId: string, interactionId: string): Promise<string | null>;
  /** Connections with an available submission whose interaction id starts with the prefix. */
  connectionsWithPending(namePrefix: string): Promise<string[]>;
  /** Null if unknown, destroyed or expired. */
  open(submissionId: string): Promise<OpenedSubmission | null>;
  /** Deletes the values. The row stays until it expires, so that a late retry is still a duplicate. */
  destroy(submissionId: string): Promise<void>;
  /** True if the same values were already submitted for the interaction (and not discarded). Seals nothing. */
  isKnown(input: { connectionId: string; interactionId: string; values: Record<string, string> }): Promise<boolean>;
  /** Deletes a rejected submission: the same values again are not a duplicate. */
  discard(submissionId: string): Promise<void>;
}

/** Queries of submissions. */
export function createSubmissionQueries(db: Db, vault: Vault, clock: () => Date): SubmissionQueries {
  return {
    seal: ({ connectionId, interactionId, values, expiresAt, withoutCodes = false }) =>
      db.transaction().execute(async (trx) => {
        const sealing = await vault.connectionVault(trx, connectionId);
        if (sealing === null) throw new HoldfastError('not_found', 'Connection not found; it may have been deleted');
        const now = clock();
        const maxLifetimeMs = withoutCodes ? MAX_LIFETIME_WITHOUT_CODES_MS : MAX_LIFETIME_MS;
        const id = newId('sub');
        const digest = sealing.digest(canonical(interactionId, values));
        const created = await trx
          .insertInto('submissions')
          .values({
            id,
            connection_id: connectionId,
            interaction_id: interactionId,
            digest,
            sealed_values: sealing.seal(valuesPlace(id), values),
            created_at: now,
            expires_at: new Date(Math.min(expiresAt.getTime(), now.getTime() + maxLifetimeMs)),
          })
          .onConflict((conflict) => conflict.columns(['connection_id', 'interaction_id', 'digest']).doNothing())
          .returning('id')
          .executeTakeFirst();
        if (created !== undefined) return { submissionId: created.id, duplicate: false };
        const first = await trx
          .selectFrom('submissions')
          .select('id')
          .where('connection_id', '=', connectionId)
          .where('interaction_id', '=', interactionId)
          .where('digest', '=', digest)
          .executeTakeFirst();
        // Swept between the two statements; the interaction of such an old submission is over.
        if (first === undefined) throw new HoldfastError('unavailable', 'The submission has just expired; try again');
        return { submissionId: first.id, duplicate: true };
      }),
    find: async (connectionId, interactionId) => {
      const row = await db
        .selectFrom('submissions')
        .select('id')
        .where('connection_id', '=', connectionId)
        .where('interaction_id', '=', interactionId)
        .where('sealed_values', 'is not', null)
        .where('expires_at', '>', clock())
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.id ?? null;
    },
    connectionsWithPending: async (namePrefix) => {
      const rows = await db
        .selectFrom('submissions')
        .select('connection_id')
        .distinct()
        .where('interaction_id', '>=', namePrefix)
        .where('interaction_id', 'like', `${namePrefix}%`)
        .where('sealed_values', 'is not', null)
        .where('expires_at', '>', clock())
        .execute();
      return rows.map((row) => row.connection_id);
    },
    open: async (submissionId) => {
      const row = await db.selectFrom('submissions').selectAll().where('id', '=', submissionId).executeTakeFirst();
      if (row === undefined || row.sealed_values === null || row.expires_at <= clock()) return null;
      const sealing = await vault.connectionVault(db, row.connection_id);
      if (sealing === null) return null;
      return {
        connectionId: row.connection_id,
        interactionId: row.interaction_id,
        values: parseValues(sealing.open(valuesPlace(submissionId), row.sealed_values)),
      };
    },
    destroy: async (submissionId) => {
      await db.updateTable('submissions').set({ sealed_values: null }).where('id', '=', submissionId).execute();
    },
    isKnown: async ({ connectionId, interactionId, values }) => {
      const sealing = await vault.connectionVault(db, connectionId);
      if (sealing === null) return false;
      const known = await db
        .selectFrom('submissions')
        .select('id')
        .where('connection_id', '=', connectionId)
        .where('interaction_id', '=', interactionId)
        .where('digest', '=', sealing.digest(canonical(interactionId, values)))
        .executeTakeFirst();
      return known !== undefined;
    },
    discard: async (submissionId) => {
      await db.deleteFrom('submissions').where('id', '=', submissionId).execute();
    },
  };
}

function valuesPlace(submissionId: string): SealedPlace {
  return { table: 'submissions', column: 'sealed_values', rowId: submissionId };
}

/** The same text for the same values in any order. */
function canonical(interactionId: string, values: Record<string, string>): string {
  return JSON.stringify([interactionId, Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
