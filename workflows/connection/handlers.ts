import { ApplicationFailure, condition, setHandler, uuid4 } from '@temporalio/workflow';
import type { ConnectionSettings } from '../../contract/document.ts';
import {
  checkUpdate,
  configureUpdate,
  createUpdate,
  documentQuery,
  flowProgressSignal,
  loginUpdate,
  removeUpdate,
  submitSignal,
  submitUpdate,
} from '../message-definitions.ts';
import type { Accepted, Addressed, ConfigureRequest, LoginRequest, RefusalCode, SubmitInput } from '../messages.ts';
import { refusalOf } from '../policy/accept.ts';
import { newFlow, patchFlow } from './flows.ts';
import { flowEvent, rememberSubmission, touch, type ConnectionState } from './state.ts';

/**
 * Registers every handler. Handlers validate, change state and return; two of them wait, and only for the store: create
 * until the row is in, remove until it is gone.
 */
export function registerHandlers(state: ConnectionState): void {
  setHandler(documentQuery, () => ({
    removed: state.removeRequested || state.existingId !== null,
    document: state.document,
    lastCheckId: state.lastCheckId,
  }));

  setHandler(createUpdate, async (request) => {
    await condition(() => state.inserted || state.existingId !== null || state.removed);
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
        if (running) refuse('flow_in_progress', `A flow is in progress until ${flow.flow_expires_at}.`);
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
        const refusal = refusalOf(state, input);
        if (refusal !== null) refuse(refusal.code, refusal.message);
      },
    },
  );

  setHandler(submitSignal, (input) => {
    if (input.connectionId === state.document.id && refusalOf(state, input) === null) applySubmit(state, input);
  });

  setHandler(flowProgressSignal, ({ flowId, patch }) => {
    patchFlow(state, flowId, patch);
  });

  setHandler(
    configureUpdate,
    (request) => {
      applySettings(state, request.changes);
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
    () => {
      const checkId = uuid4();
      state.checkRequested = checkId;
      return { checkId };
    },
    {
      validator: (request: Addressed) => {
        refuseUnaddressed(state, request);
        if (state.checkRunning || state.checkRequested !== null)
          refuse('check_in_progress', 'A health check is running.');
      },
    },
  );

  setHandler(
    removeUpdate,
    async () => {
      state.removeRequested = true;
      await condition(() => state.removed);
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

function applyLogin(state: ConnectionState, request: LoginRequest): void {
  if (request.loginId === state.lastLoginId) return;
  state.lastLoginId = request.loginId;
  const flow = newFlow('LOGIN', `flow_${uuid4().replaceAll('-', '')}`, Date.now());
  state.requestedFlow = { kind: 'login', request, flowId: flow.flow_id };
  touch(state, { flow }, [{ ...flowEvent(flow, flow.started_at), step: 'INITIALIZED' }]);
}

function applySubmit(state: ConnectionState, input: SubmitInput): void {
  const { pause } = state;
  if (pause === null || pause.answer !== null) return;
  pause.answer = input;
  if (input.submissionId !== null) rememberSubmission(state, input.submissionId);
  const { flow } = state.document;
  if (flow !== null)
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
  if (before.credential?.name !== settings.credential?.name) {
    state.credential = null;
    state.credentialStale = true;
  }
  touch(state, { settings });
  if (
    before.health_check_interval !== settings.health_check_interval ||
    before.health_checks !== settings.health_checks
  )
    state.timerEpoch += 1;
}

function refuseUnaddressed(state: ConnectionState, message: Addressed): void {
  // A workflow id is used again after a deletion, and the row may not be in yet: neither answers for this id.
  if (message.connectionId !== state.document.id || !state.inserted || state.removeRequested)
    refuse('not_found', 'No such connection.');
}

function refuse(code: RefusalCode, message: string): never {
  throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
}
