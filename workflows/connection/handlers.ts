import { ApplicationFailure, condition, setHandler, uuid4 } from '@temporalio/workflow';
import type { Interaction } from '../../contract/interaction.ts';
import type { ConnectionSettings } from '../../contract/document.ts';
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
import type { Accepted, Addressed, ConfigureRequest, LoginRequest, RefusalCode, SubmitInput } from '../messages.ts';
import { refusalOf } from '../policy/accept.ts';
import { patchFlow, requestFlow } from './flows.ts';
import { rememberSubmission, rescheduleCheck, touch, type ConnectionState } from './state.ts';

/**
 * Registers every handler. Handlers validate, change state and return. Three wait: create until the row is in, remove until
 * it is gone, and check, of which there is one at a time, for its outcome.
 */
export function registerHandlers(state: ConnectionState): void {
  setHandler(documentQuery, () => ({
    removed: state.removeRequested || state.existingId !== null,
    document: state.document,
  }));

  setHandler(createUpdate, async (request) => {
    await condition(() => state.inserted || state.existingId !== null || state.broken !== null);
    if (!state.inserted && state.existingId === null) refuse('internal_error', 'The connection could not be stored');
    if (state.removeRequested) return { outcome: 'ending', document: state.document };
    const ours = state.existingId === null && request.connectionId === state.document.id;
    const document = state.existingId === null ? state.document : { ...state.document, id: state.existingId };
    return { outcome: ours ? 'created' : 'exists', document };
  });

  setHandler(
    loginUpdate,
    (request) => {
      applyLogin(state, request);
      return accepted(state);
    },
    {
      validator: (request: LoginRequest) => {
        refuseUnaddressed(state, request);
        if (request.loginId === state.lastLoginId) return;
        const { flow } = state.document;
        const running = flow?.flow_status === 'IN_PROGRESS' && Date.now() < Date.parse(flow.flow_expires_at);
        if (running)
          refuse('flow_in_progress', `A flow is in progress until ${flow.flow_expires_at}; finish it or wait`);
      },
    },
  );

  setHandler(
    submitUpdate,
    (input) => {
      applySubmit(state, input);
      return accepted(state);
    },
    {
      validator: (input: SubmitInput) => {
        refuseUnaddressed(state, input);
        if (wasApplied(state, input)) return;
        const refusal = refusalOf(pendingInteraction(state), input);
        if (refusal !== null) refuse(refusal.code, refusal.message);
      },
    },
  );

  setHandler(submitSignal, (input) => {
    const isOurs = input.connectionId === state.document.id;
    if (isOurs && refusalOf(pendingInteraction(state), input) === null) applySubmit(state, input);
  });

  registerFlowSignals(state);

  setHandler(
    configureUpdate,
    (request) => {
      applySettings(state, request.changes);
      if (request.credentialChanged === true) state.credentialStale = true;
      return accepted(state);
    },
    {
      validator: (request: ConfigureRequest) => {
        refuseUnaddressed(state, request);
      },
    },
  );

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
        refuseUnaddressed(state, request);
        if (state.checking !== null)
          refuse('check_in_progress', 'A health check is running; try again when it has ended');
      },
    },
  );

  setHandler(
    removeUpdate,
    async () => {
      state.removeRequested = true;
      await condition(() => state.removed);
      if (state.broken !== null) refuse('internal_error', 'The connection could not be removed; try again');
      return null;
    },
    {
      validator: (request: Addressed) => {
        refuseUnaddressed(state, request);
      },
    },
  );
}

function accepted(state: ConnectionState): Accepted {
  return { revision: state.document.revision, document: state.document };
}

/** What a running flow tells. One that callers do not see any more changes nothing for them. */
function registerFlowSignals(state: ConnectionState): void {
  setHandler(flowProgressSignal, ({ flowId, patch }) => {
    patchFlow(state, flowId, patch);
  });
  setHandler(flowWithdrawsSignal, ({ flowId, interactionId }) => {
    // When an answer was accepted before, it is on its way and the flow takes it.
    if (pendingInteraction(state)?.interaction_id !== interactionId) return;
    patchFlow(state, flowId, { interaction: null, external_action_message: null });
    state.outbox.push({ flowId, interactionId, input: null });
  });
  setHandler(flowEndedSignal, ({ flowId, end }) => {
    if (state.running?.flowId === flowId) state.running.end ??= end;
  });
}

function applyLogin(state: ConnectionState, request: LoginRequest): void {
  if (request.loginId === state.lastLoginId) return;
  state.lastLoginId = request.loginId;
  requestFlow(state, { kind: 'login', request, flowId: `flow_${uuid4().replaceAll('-', '')}` });
}

/** The interaction that callers see, which is the one that an answer is held against. */
function pendingInteraction({ document: { flow } }: ConnectionState): Interaction | null {
  return flow?.flow_status === 'IN_PROGRESS' ? flow.interaction : null;
}

function wasApplied(state: ConnectionState, { submissionId }: SubmitInput): boolean {
  return submissionId !== null && state.appliedSubmissions.includes(submissionId);
}

function applySubmit(state: ConnectionState, input: SubmitInput): void {
  const { flow } = state.document;
  if (flow === null || wasApplied(state, input)) return;
  if (input.submissionId !== null) rememberSubmission(state, input.submissionId);
  state.outbox.push({ flowId: flow.flow_id, interactionId: input.interactionId, input });
  patchFlow(state, flow.flow_id, {
    flow_step: 'SUBMITTING',
    interaction: null,
    website_error: null,
    external_action_message: null,
  });
}

function applySettings(state: ConnectionState, changes: ConfigureRequest['changes']): void {
  const settings: ConnectionSettings = { ...state.document.settings };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    if (value === null && name !== 'browser_telemetry') Reflect.deleteProperty(settings, name);
    else Object.assign(settings, { [name]: value });
  }
  const before = state.document.settings;
  if (JSON.stringify(before.credential) !== JSON.stringify(settings.credential)) {
    state.credential = null;
    state.credentialStale = true;
  }
  touch(state, { settings });
  if (
    before.health_check_interval !== settings.health_check_interval ||
    before.health_checks !== settings.health_checks
  )
    rescheduleCheck(state);
}

function refuseUnaddressed(state: ConnectionState, message: Addressed): void {
  // A workflow id is used again after a deletion, and the row may not be in yet: neither answers for this id.
  if (message.connectionId !== state.document.id || !state.inserted || state.removeRequested)
    refuse('not_found', 'No such connection');
}

function refuse(code: RefusalCode, message: string): never {
  throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
}
