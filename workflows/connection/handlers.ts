import { condition, setHandler, uuid4 } from '@temporalio/workflow';
import {
  checkUpdate,
  configureUpdate,
  createUpdate,
  documentQuery,
  flowEndedSignal,
  flowProgressSignal,
  flowWithdrawsSignal,
  loginUpdate,
  removeUpdate,
  submitSignal,
  submitUpdate,
} from '../message-definitions.ts';
import type { Addressed, LoginRequest, SubmitInput } from '../messages.ts';
import { newFlowId, patchFlow } from './flows.ts';
import {
  accepted,
  applyLogin,
  applySettings,
  applySubmit,
  checkAddressed,
  checkLogin,
  checkSubmit,
  isAcceptable,
  pendingInteraction,
  refuse,
} from './requests.ts';
import type { ConnectionState } from './state.ts';

/** Registers every handler. Only create, remove and check wait: for the row, its deletion and the outcome. */
export function registerHandlers(state: ConnectionState): void {
  setHandler(documentQuery, () => ({
    removed: state.removeRequested || state.existingId !== null,
    document: state.document,
  }));

  setHandler(createUpdate, async (request) => {
    await condition(() => state.inserted || state.existingId !== null || state.storeFailure !== null);
    if (state.storeFailure === 'project_gone')
      refuse('not_found', 'The project was archived or deleted in the meantime');
    if (state.storeFailure === 'limit_reached')
      refuse('limit_reached', 'The organization has as many connections as its limits allow');
    if (!state.inserted && state.existingId === null) refuse('internal_error', 'The connection could not be stored');
    if (state.removeRequested) return { outcome: 'ending', document: state.document };
    const ours = state.existingId === null && request.connectionId === state.document.id;
    const document = state.existingId === null ? state.document : { ...state.document, id: state.existingId };
    return { outcome: ours ? 'created' : 'exists', document };
  });

  setHandler(loginUpdate, (request) => applyLogin(state, request, newFlowId), {
    validator: (request: LoginRequest): void => checkLogin(state, request),
  });

  setHandler(submitUpdate, (input) => applySubmit(state, input), {
    validator: (input: SubmitInput): void => checkSubmit(state, input),
  });

  setHandler(submitSignal, (input) => {
    if (isAcceptable(state, input)) applySubmit(state, input);
  });

  registerFlowSignals(state);

  const checkAddress = (request: Addressed): void => checkAddressed(state, request);
  setHandler(configureUpdate, (request) => applySettings(state, request), { validator: checkAddress });

  setHandler(
    checkUpdate,
    async () => {
      const checkId = uuid4();
      state.checking = checkId;
      await condition(() => state.lastCheckId === checkId || state.removeRequested);
      if (state.removeRequested) refuse('not_found', 'No such connection');
      return accepted(state);
    },
    {
      validator: (request: Addressed) => {
        checkAddressed(state, request);
        if (state.checking !== null)
          refuse('check_in_progress', 'A health check is running; try again when it has finished');
      },
    },
  );

  setHandler(
    removeUpdate,
    async () => {
      state.removeRequested = true;
      await condition(() => state.removed);
      if (state.storeFailure !== null) refuse('internal_error', 'The connection could not be removed; try again');
      return null;
    },
    { validator: checkAddress },
  );
}

/** Signals from a running flow. A flow that callers no longer see changes nothing for them. */
function registerFlowSignals(state: ConnectionState): void {
  setHandler(flowProgressSignal, ({ flowId, patch }) => {
    patchFlow(state, flowId, patch);
  });
  setHandler(flowWithdrawsSignal, ({ flowId, interactionId }) => {
    // If an answer was accepted before, it is on its way and the flow takes it.
    if (pendingInteraction(state)?.interaction_id !== interactionId) return;
    patchFlow(state, flowId, { interaction: null, external_action_message: null });
    state.outbox.push({ flowId, interactionId, input: null });
  });
  setHandler(flowEndedSignal, ({ flowId, end }) => {
    if (state.running?.flowId === flowId) state.running.end ??= end;
  });
}
