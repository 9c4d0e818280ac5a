import {
  condition,
  isCancellation,
  log,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { failureCodeOf } from '../flow/failures.ts';
import { records } from '../records.ts';
import { STATUS_ATTRIBUTE } from '../search-attributes.ts';
import { stopFlow } from './flows.ts';
import { applyChange, type ConnectionState } from './state.ts';

/** Inserts the row of a new connection. If that fails the entity ends, and its creator learns why. */
export async function insertRow(state: ConnectionState): Promise<void> {
  const { document } = state;
  try {
    const { existingId } = await records.insertConnection(document);
    state.existingId = existingId;
    state.inserted = existingId === null;
    state.recordedRevision = document.revision;
  } catch (error) {
    state.storeFailure = failureCodeOf(error);
  }
}

/** Writes every change of the document to the store, in order, until the connection is removed. */
export async function recordChanges(state: ConnectionState): Promise<void> {
  for (;;) {
    await condition(
      () => state.watch === null && (state.credentialStale || state.document.revision > state.recordedRevision),
    );
    state.recording = true;
    if (state.credentialStale) await refreshCredential(state);
    showStatus(state);
    await record(state);
    state.recording = false;
  }
}

/** Writes the document as it is now. If even a day of retries fails, the next change writes everything pending. */
async function record(state: ConnectionState): Promise<void> {
  const { document } = state;
  const timeline = [...state.pendingTimeline.values()];
  try {
    await records.recordConnection({ document, timeline });
    for (const event of timeline)
      if (state.pendingTimeline.get(event.id) === event) state.pendingTimeline.delete(event.id);
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.error('connection state not recorded', { code: failureCodeOf(error), revision: document.revision });
  }
  state.recordedRevision = document.revision;
}

/** Shows operators the workflow's status and current step. Nothing here is encrypted: only values of closed lists. */
export function showStatus({ document: { status, flow } }: ConnectionState): void {
  setCurrentDetails(flow === null ? status : `${status}; ${flow.flow_type} ${flow.flow_status}, ${flow.flow_step}`);
  const shown = workflowInfo().typedSearchAttributes.get(STATUS_ATTRIBUTE);
  // A workflow started without the attribute runs on a server that does not know it.
  if (shown !== undefined && shown !== status) upsertSearchAttributes([{ key: STATUS_ATTRIBUTE, value: status }]);
}

/** Reads what the attached credential can answer, so that the reauth gate reflects it at once. */
async function refreshCredential(state: ConnectionState): Promise<void> {
  const { organization_id, project_id, settings } = state.document;
  state.credentialStale = false;
  try {
    state.credential = await records.readCredential({
      organizationId: organization_id,
      projectId: project_id,
      credentialName: settings.credential?.name ?? null,
    });
    applyChange(state, {});
  } catch (error) {
    if (isCancellation(error)) throw error;
    // The gate reports `no_credential` until a flow or a check reads it.
    log.error('credential not read', { code: failureCodeOf(error) });
  }
}

/** Removes a deleted connection's row, which is all the caller waits for; closing a browser may take longer. */
export async function removeRow(state: ConnectionState): Promise<void> {
  const { id, organization_id, project_id } = state.document;
  stopFlow(state, 'CANCELED');
  // Callers that follow the flow see how it ended before the row is gone.
  if (state.document.revision > state.recordedRevision) await record(state);
  try {
    await records.removeConnection({ connectionId: id, organizationId: organization_id, projectId: project_id });
  } catch (error) {
    state.storeFailure = failureCodeOf(error);
  }
  state.removed = true;
}
