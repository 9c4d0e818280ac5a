import type { ConnectionRow } from '../../store/queries/connection-lookups.ts';
import type { ConnectionState } from '../../store/queries/connections.ts';
import type { ApiDeps } from '../context.ts';

/** From where, and for how long, {@link recordedStates} reads. */
export interface StatesRequest {
  /** The last revision that the reader has; null: the current state first. One that is not reached yet counts as null. */
  afterRevision: number | null;
  signal: AbortSignal;
}

/**
 * The states of a connection in the order in which they were recorded, without a gap: what is stored after
 * `afterRevision`, then each new one. Ends when `signal` aborts or the connection is removed. A slow reader holds nothing
 * up: what it has not asked for lies in the store.
 * @param row the connection as the reader found it: the first state of a reader that has none.
 */
export async function* recordedStates(
  store: ApiDeps['store'],
  row: ConnectionRow,
  { afterRevision, signal }: StatesRequest,
): AsyncGenerator<ConnectionState> {
  let seen = afterRevision ?? Number.POSITIVE_INFINITY;
  if (seen > row.revision) {
    seen = row.revision;
    yield { revision: row.revision, document: row.document, at: row.updatedAt };
  }
  // The first revision of the watch is the current one, so nothing between the read above and now is missed.
  for await (const revision of store.changes.watch(row.id, signal)) {
    if (revision <= seen) continue;
    for (const state of await store.connections.statesSince(row.id, seen)) {
      if (signal.aborted) return;
      seen = state.revision;
      yield state;
    }
  }
}
