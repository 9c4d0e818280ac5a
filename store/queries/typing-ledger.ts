import type { Db } from '../database.ts';
import { affectsRow, findOne } from '../scope.ts';
import type { TypingState } from '../tables/connections.ts';

export type { TypingState } from '../tables/connections.ts';

/** One row of the ledger. */
interface TypingEntry {
  connectionId: string;
  flowId: string;
  interactionId: string;
  submissionId: string | null;
  state: TypingState;
  at: Date;
}

/** The ledger that ensures a password is typed at most once. It commits before the first key press. */
export interface TypingLedgerQueries {
  /** True for the only caller who may type; false if already claimed (then read the page, never type blindly). */
  claim(input: {
    connectionId: string;
    flowId: string;
    interactionId: string;
    submissionId?: string;
  }): Promise<boolean>;
  /** Moves forward only. False if that state was already reached or the claim was abandoned; then typing must stop. */
  advance(flowId: string, interactionId: string, state: TypingState): Promise<boolean>;
  /**
   * Releases the holder's claim: nothing was submitted to the site, and it may be claimed again. False if the state is
   * already `pressed` or `observed`; then the claim stays.
   */
  release(flowId: string, interactionId: string): Promise<boolean>;
  /**
   * Closes an interaction whose outcome was lost: from now on nobody types or presses for it, not even a slow worker.
   * Returns the state it had reached; null if it was not claimed. A second call returns `observed`.
   */
  abandon(input: { connectionId: string; flowId: string; interactionId: string }): Promise<TypingState | null>;
  read(flowId: string, interactionId: string): Promise<TypingEntry | null>;
}

const ORDER: readonly TypingState[] = ['intent', 'typed', 'pressed', 'observed'];

/** Queries of the typing ledger. */
export function createTypingLedgerQueries(db: Db, clock: () => Date): TypingLedgerQueries {
  /** Inserts an entry. False if the interaction has one. */
  const insert = (from: Db, entry: Omit<TypingEntry, 'at'>): Promise<boolean> =>
    affectsRow(
      from
        .insertInto('typing_ledger')
        .values({
          flow_id: entry.flowId,
          interaction_id: entry.interactionId,
          connection_id: entry.connectionId,
          submission_id: entry.submissionId,
          state: entry.state,
          at: clock(),
        })
        .onConflict((conflict) => conflict.columns(['flow_id', 'interaction_id']).doNothing()),
    );
  return {
    claim: ({ submissionId = null, ...entry }) => insert(db, { ...entry, submissionId, state: 'intent' }),
    advance: (flowId, interactionId, state) =>
      affectsRow(
        db
          .updateTable('typing_ledger')
          .set({ state, at: clock() })
          .where('flow_id', '=', flowId)
          .where('interaction_id', '=', interactionId)
          .where('state', 'in', ['intent', ...ORDER.slice(0, ORDER.indexOf(state))]),
      ),
    release: (flowId, interactionId) =>
      affectsRow(
        db
          .deleteFrom('typing_ledger')
          .where('flow_id', '=', flowId)
          .where('interaction_id', '=', interactionId)
          .where('state', 'in', ['intent', 'typed']),
      ),
    abandon: ({ connectionId, flowId, interactionId }) =>
      db.transaction().execute(async (trx) => {
        const closing = { connectionId, flowId, interactionId, submissionId: null, state: 'observed' } as const;
        if (await insert(trx, closing)) return null;
        const row = await trx
          .selectFrom('typing_ledger')
          .select('state')
          .where('flow_id', '=', flowId)
          .where('interaction_id', '=', interactionId)
          .forUpdate()
          .executeTakeFirst();
        await trx
          .updateTable('typing_ledger')
          .set({ state: 'observed', at: clock() })
          .where('flow_id', '=', flowId)
          .where('interaction_id', '=', interactionId)
          .execute();
        return row?.state ?? null;
      }),
    read: (flowId, interactionId) =>
      findOne(
        db
          .selectFrom('typing_ledger')
          .select([
            'connection_id as connectionId',
            'flow_id as flowId',
            'interaction_id as interactionId',
            'submission_id as submissionId',
            'state',
            'at',
          ])
          .where('flow_id', '=', flowId)
          .where('interaction_id', '=', interactionId),
        (entry) => entry,
      ),
  };
}
