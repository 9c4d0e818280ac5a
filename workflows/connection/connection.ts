import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  sleep,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { records } from '../flow/proxies.ts';
import { nextCheckDelayMs } from '../policy/intervals.ts';
import { runLogin, runReauth } from './flows.ts';
import { registerHandlers } from './handlers.ts';
import { runHealthCheck } from './health.ts';
import { insertRow, recordChanges } from './recorder.ts';
import { carriedOf, initialState, type ConnectionInput, type ConnectionState } from './state.ts';

/**
 * The entity of one connection, for its whole life: starts flows, keeps the health timer, records every change, and ends
 * when the connection is deleted. What it does between is in the files beside this one.
 */
export async function authConnection(input: ConnectionInput): Promise<void> {
  const state = initialState(input, new Date().toISOString());
  registerHandlers(state);
  if (!state.inserted) await insertRow(state);
  if (state.existingId !== null) {
    await condition(allHandlersFinished);
    return;
  }
  const work = new CancellationScope();
  // Each loop ends for itself: a flow that is cancelled still has its browser to close.
  const stopped = Promise.all(
    [recordChanges, runFlows, runHealthChecks].map((loop) => work.run(() => untilCancelled(loop(state)))),
  );
  await Promise.race([stopped, condition(() => state.removeRequested || mayContinueAsNew(state))]);
  work.cancel();
  if (state.removeRequested) {
    // The row goes first: closing a browser may take a while, and the caller waits for the row alone.
    await CancellationScope.nonCancellable(() => removeRow(state));
    await condition(allHandlersFinished);
  }
  await stopped;
  if (!state.removeRequested) await continueAsNew<typeof authConnection>({ ...input, carried: carriedOf(state) });
}

async function untilCancelled(loop: Promise<void>): Promise<void> {
  try {
    await loop;
  } catch (error) {
    if (!isCancellation(error)) throw error;
  }
}

/** Between flows and checks, with every handler done and every change written, the history may be cut. */
function mayContinueAsNew(state: ConnectionState): boolean {
  return (
    workflowInfo().continueAsNewSuggested &&
    !state.flowRunning &&
    !state.checkRunning &&
    state.requestedFlow === null &&
    state.checkRequested === null &&
    state.recordedRevision === state.document.revision &&
    allHandlersFinished()
  );
}

async function runFlows(state: ConnectionState): Promise<void> {
  for (;;) {
    await condition(() => state.requestedFlow !== null);
    const requested = state.requestedFlow;
    if (requested === null) continue;
    state.requestedFlow = null;
    state.flowRunning = true;
    if (requested.kind === 'login') await runLogin(state, requested.request, requested.flowId);
    else await runReauth(state, requested.flowId);
    state.flowRunning = false;
    rescheduleCheck(state);
  }
}

async function runHealthChecks(state: ConnectionState): Promise<void> {
  for (;;) {
    const byHand = await untilCheckIsDue(state);
    state.checkRunning = true;
    state.checkRequested = null;
    await runHealthCheck(state, byHand ?? uuid4());
    state.nextCheckAt = null;
    state.checkRunning = false;
  }
}

/** Waits for a check that is asked for by hand (answers its id) or for the timer (answers null). */
async function untilCheckIsDue(state: ConnectionState): Promise<string | null> {
  for (;;) {
    const { settings } = state.document;
    // Before the first good login there is no session to look at.
    const timed = settings.health_checks && state.hadLogin;
    if (!timed) state.nextCheckAt = null;
    else state.nextCheckAt ??= Date.now() + nextCheckDelayMs(settings.health_check_interval, Math.random());
    const epoch = state.timerEpoch;
    const changed = (): boolean =>
      state.checkRequested !== null ||
      state.timerEpoch !== epoch ||
      (!timed && state.hadLogin && settings.health_checks);
    if (state.nextCheckAt === null) await condition(changed);
    else await condition(changed, Math.max(1, state.nextCheckAt - Date.now()));
    if (state.checkRequested !== null) return state.checkRequested;
    if (state.timerEpoch !== epoch) {
      state.nextCheckAt = null;
      continue;
    }
    if (state.nextCheckAt !== null && Date.now() >= state.nextCheckAt) return null;
  }
}

function rescheduleCheck(state: ConnectionState): void {
  state.nextCheckAt = null;
  state.timerEpoch += 1;
}

async function removeRow(state: ConnectionState): Promise<void> {
  const { id, organization_id, project_id } = state.document;
  while (!state.removed) {
    try {
      await records.removeConnection({ connectionId: id, organizationId: organization_id, projectId: project_id });
      state.removed = true;
    } catch {
      await sleep('5 seconds');
    }
  }
}
