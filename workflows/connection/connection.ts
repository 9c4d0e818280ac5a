import {
  allHandlersFinished,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  workflowInfo,
} from '@temporalio/workflow';
import { abandonFlow, deliverAnswers, runFlows, stopFlow } from './flows.ts';
import { registerHandlers } from './handlers.ts';
import { runHealthChecks } from './health.ts';
import { insertRow, recordChanges, removeRow } from './recorder.ts';
import { carriedState, initialState, type ConnectionInput, type ConnectionState } from './state.ts';

/** A run continues as new after this many events (two dozen health checks in a browser), whatever the server allows. */
const MAX_EVENTS = 300;
/** How long a deleted connection waits for its flow to close its browser. */
const CLOSE_WITHIN = '2 minutes';

/**
 * The entity of one connection: settings, status, reauth gate, health timer, and who may start a flow. Flows are children
 * whose results reach callers through the entity's document. It ends only when the connection is deleted: if canceled
 * externally it cancels its flow and keeps running.
 */
export async function authConnection(input: ConnectionInput): Promise<void> {
  const state = initialState(input, new Date().toISOString());
  registerHandlers(state);
  CancellationScope.current().cancelRequested.catch(() => {
    stopFlow(state, 'CANCELED');
  });
  await CancellationScope.nonCancellable(() => runEntity(state, input));
}

async function runEntity(state: ConnectionState, input: ConnectionInput): Promise<void> {
  if (!state.inserted) await insertRow(state);
  if (!state.inserted) {
    await condition(allHandlersFinished);
    return;
  }
  if (input.begin.how === 'again') await abandonFlow(state);
  const work = new CancellationScope();
  const loops = [recordChanges, runHealthChecks, deliverAnswers].map((loop) => work.run(() => loop(state)));
  const flows = runFlows(state);
  const over = condition(() => state.removeRequested || canContinueAsNew(state, input));
  await Promise.race([over, flows, ...loops]);
  if (!state.removeRequested) {
    await continueRun({ ...input, begin: { how: 'carried', state: carriedState(state) } });
  }
  work.cancel();
  await Promise.allSettled(loops);
  // The row goes first: it is all the caller waits for, and closing a browser may take a while.
  await removeRow(state);
  // A connection that is created again must find its profile free.
  await condition(() => state.running === null, CLOSE_WITHIN);
  await condition(allHandlersFinished);
}

/** Continues as new with the current search attributes and memo. */
async function continueRun(input: ConnectionInput): Promise<never> {
  const { typedSearchAttributes, memo } = workflowInfo();
  const options = { typedSearchAttributes, ...(memo === undefined ? {} : { memo }) };
  return await makeContinueAsNewFunc<typeof authConnection>(options)(input);
}

/** True if nothing is in flight and the run ended a flow, is long or, under `continueAlways`, recorded anything. */
function canContinueAsNew(state: ConnectionState, { continueAlways = false }: ConnectionInput): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  const settled =
    !state.recording &&
    state.recordedRevision === state.document.revision &&
    state.checking === null &&
    state.watch === null &&
    !state.takingSlot &&
    state.outbox.length === 0 &&
    !state.startingFlow &&
    (state.running?.end ?? null) === null &&
    allHandlersFinished();
  if (continueAlways) return settled && state.document.revision > state.firstRevision;
  const quiet = state.running === null && state.requestedFlow === null;
  return settled && quiet && (state.flowsEnded > 0 || historyLength >= MAX_EVENTS || continueAsNewSuggested);
}
