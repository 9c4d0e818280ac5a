import type { Db } from '../database.ts';
import type { TypingState } from '../tables/connections.ts';

export type { TypingState } from '../tables/connections.ts';

/** One row of the ledger. */
export interface TypingEntry {
  connectionId: string;
  flowId: string;
  interactionId: string;
  submissionId: string | null;
  state: TypingState;
  at: Date;
}

/** The ledger that makes typing a password happen at most once. Committed before the first key is sent. */
export interface TypingLedgerQueries {
  /** True for the one caller who may type; false when it was claimed before (then read the page, never type blind). */
  claim(input: {
    connectionId: string;
    flowId: string;
    interactionId: string;
    submissionId?: string;
  }): Promise<boolean>;
  /** Moves forward only: false when it was that far already, or was abandoned. Then whoever types must stop. */
  advance(flowId: string, interactionId: string, state: TypingState): Promise<boolean>;
  /**
   * Gives a claim back by whoever holds it: nothing went to the site, and it may be claimed again. False when it was pressed or
   * abandoned; then it stays.
   */
  release(flowId: string, interactionId: string): Promise<boolean>;
  /**
   * Ends an entering whose outcome was lost: from now on nobody types or presses for it, not even a worker that was only
   * slow. Answers how far it had come; null when it had not begun. Twice: `observed`.
   */
  abandon(input: { connectionId: string; flowId: string; interactionId: string }): Promise<TypingState | null>;
  read(flowId: string, interactionId: string): Promise<TypingEntry | null>;
}

const ORDER: readonly TypingState[] = ['intent', 'typed', 'pressed', 'observed'];

/** Queries of the typing ledger. */
export function createTypingLedgerQueries(db: Db, clock: () => Date): TypingLedgerQueries {
  return {
    claim: async ({ connectionId, flowId, interactionId, submissionId }) => {
      const row = await db
        .insertInto('typing_ledger')
        .values({
          flow_id: flowId,
          interaction_id: interactionId,
          connection_id: connectionId,
          submission_id: submissionId ?? null,
          state: 'intent',
          at: clock(),
        })
        .onConflict((conflict) => conflict.columns(['flow_id', 'interaction_id']).doNothing())
        .returning('flow_id')
        .executeTakeFirst();
      return row !== undefined;
    },
    advance: async (flowId, interactionId, state) => {
      const moved = await db
        .updateTable('typing_ledger')
        .set({ state, at: clock() })
        .where('flow_id', '=', flowId)
        .where('interaction_id', '=', interactionId)
        .where('state', 'in', ['intent', ...ORDER.slice(0, ORDER.indexOf(state))])
        .returning('flow_id')
        .executeTakeFirst();
      return moved !== undefined;
    },
    release: async (flowId, interactionId) => {
      const released = await db
        .deleteFrom('typing_ledger')
        .where('flow_id', '=', flowId)
        .where('interaction_id', '=', interactionId)
        .where('state', 'in', ['intent', 'typed'])
        .returning('flow_id')
        .executeTakeFirst();
      return released !== undefined;
    },
    abandon: ({ connectionId, flowId, interactionId }) =>
      db.transaction().execute(async (trx) => {
        const closed = await trx
          .insertInto('typing_ledger')
          .values({
            flow_id: flowId,
            interaction_id: interactionId,
            connection_id: connectionId,
            submission_id: null,
            state: 'observed',
            at: clock(),
          })
          .onConflict((conflict) => conflict.columns(['flow_id', 'interaction_id']).doNothing())
          .returning('flow_id')
          .executeTakeFirst();
        if (closed !== undefined) return null;
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
    read: async (flowId, interactionId) => {
      const row = await db
        .selectFrom('typing_ledger')
        .selectAll()
        .where('flow_id', '=', flowId)
        .where('interaction_id', '=', interactionId)
        .executeTakeFirst();
      if (row === undefined) return null;
      return {
        connectionId: row.connection_id,
        flowId: row.flow_id,
        interactionId: row.interaction_id,
        submissionId: row.submission_id,
        state: row.state,
        at: row.at,
      };
    },
  };
}
