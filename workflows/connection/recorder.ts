import { condition, sleep } from '@temporalio/workflow';
import { records } from '../flow/proxies.ts';
import { touch, type ConnectionState } from './state.ts';

/** Inserts the row of a new connection, however long the store is away. */
export async function insertRow(state: ConnectionState): Promise<void> {
  for (;;) {
    try {
      const { document } = state;
      const { existingId } = await records.insertConnection(document);
      if (existingId === null) {
        state.recordedRevision = document.revision;
        state.inserted = true;
      } else {
        state.existingId = existingId;
      }
      return;
    } catch {
      await sleep('5 seconds');
    }
  }
}

/** Writes every change of the document to the store, in order, until the connection is removed. */
export async function recordChanges(state: ConnectionState): Promise<void> {
  for (;;) {
    await condition(() => isDue(state));
    if (isEnding(state)) return;
    if (state.credentialStale) await refreshCredential(state);
    const { document } = state;
    const timeline = [...state.pendingTimeline.values()];
    try {
      await records.recordConnection({ document, timeline });
      for (const event of timeline)
        if (state.pendingTimeline.get(event.id) === event) state.pendingTimeline.delete(event.id);
      state.recordedRevision = document.revision;
    } catch {
      // The store is away for longer than the activity's own retries: what is newest is written when it is back.
      await sleep('5 seconds');
    }
  }
}

/** Learns what the attached credential can answer, so that the reauth gate speaks of it at once. */
async function refreshCredential(state: ConnectionState): Promise<void> {
  const { organization_id, project_id, settings } = state.document;
  try {
    state.credential = await records.readCredential({
      organizationId: organization_id,
      projectId: project_id,
      credentialName: settings.credential?.name ?? null,
    });
    state.credentialStale = false;
    touch(state, {});
  } catch {
    // The store is away; the write that follows waits for it, and the next change asks again.
  }
}

function isEnding(state: ConnectionState): boolean {
  return state.removeRequested;
}

function isDue(state: ConnectionState): boolean {
  return isEnding(state) || state.credentialStale || state.document.revision > state.recordedRevision;
}
