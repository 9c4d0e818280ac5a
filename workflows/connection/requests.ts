import { ApplicationFailure } from '@temporalio/workflow';
import { checkAnswer, MAILED_LINK, type AnswerFault } from '../../contract/answer-check.ts';
import type { ConnectionSettings, FlowState } from '../../contract/document.ts';
import type { Interaction } from '../../contract/interaction.ts';
import type { Accepted, Addressed, ConfigureRequest, LoginRequest, RefusalCode, SubmitInput } from '../messages.ts';
import { patchFlow, requestFlow } from './flows.ts';
import { rememberSubmission, rescheduleCheck, applyChange, type ConnectionState } from './state.ts';

/*
 * Requests to a connection: each `check…` rejects what cannot be done, each `apply…` changes the state. None waits, and
 * the failure that a caller gets is all they need from Temporal.
 */

/** Rejects a message that is not addressed to this connection. */
export function checkAddressed(state: ConnectionState, message: Addressed): void {
  // A workflow id is reused after a deletion, and the row may not be inserted yet.
  if (message.connectionId !== state.document.id || !state.inserted || state.removeRequested)
    refuse('not_found', 'No such connection');
}

/** Rejects a login while a flow is in progress, unless this request started it. */
export function checkLogin(state: ConnectionState, request: LoginRequest): void {
  checkAddressed(state, request);
  if (request.loginId === state.lastLoginId) return;
  const { flow } = state.document;
  if (isInProgress(flow))
    refuse('flow_in_progress', `A flow is in progress until ${flow.flow_expires_at}; finish it or wait`);
}

/** Starts a login flow under a new id. */
export function applyLogin(state: ConnectionState, request: LoginRequest, newFlowId: () => string): Accepted {
  if (request.loginId !== state.lastLoginId) {
    state.lastLoginId = request.loginId;
    requestFlow(state, { kind: 'login', request, flowId: newFlowId() });
  }
  return accepted(state);
}

/** Rejects an answer that does not fit the pending interaction, unless it was applied before. */
export function checkSubmit(state: ConnectionState, input: SubmitInput): void {
  checkAddressed(state, input);
  if (wasApplied(state, input)) return;
  const refusal = refusalOf(pendingInteraction(state), input);
  if (refusal !== null) refuse(refusal.code, refusal.message);
}

/** True if an answer sent by signal is to be applied: its sender does not learn of a rejection. */
export function isAcceptable(state: ConnectionState, input: SubmitInput): boolean {
  return input.connectionId === state.document.id && refusalOf(pendingInteraction(state), input) === null;
}

/** Sends an answer to the flow, once. */
export function applySubmit(state: ConnectionState, input: SubmitInput): Accepted {
  const { flow } = state.document;
  if (flow === null || wasApplied(state, input)) return accepted(state);
  if (input.submissionId !== null) rememberSubmission(state, input.submissionId);
  state.outbox.push({ flowId: flow.flow_id, interactionId: input.interactionId, input });
  patchFlow(state, flow.flow_id, {
    flow_step: input.wrongForm === true ? 'DISCOVERING' : 'SUBMITTING',
    interaction: null,
    website_error: null,
    external_action_message: null,
  });
  return accepted(state);
}

/** Changes settings and whatever depends on them. */
export function applySettings(state: ConnectionState, { changes, credentialChanged }: ConfigureRequest): Accepted {
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
    // Other values may belong to another account.
    const { account: _account, ...document } = state.document;
    state.document = document;
  }
  const { reauth } = state.document;
  const codesChanged = JSON.stringify(before.codes) !== JSON.stringify(settings.codes);
  // An obstacle that was a code or a link may be answered automatically now.
  const mayBeAnswered = codesChanged && DELIVERED_CODE_REASONS.has(reauth?.obstacle?.reason);
  applyChange(state, {
    settings,
    ...(reauth !== undefined && mayBeAnswered ? { reauth: { ...reauth, obstacle: null } } : {}),
  });
  if (
    before.health_check_interval !== settings.health_check_interval ||
    before.health_checks !== settings.health_checks
  )
    rescheduleCheck(state);
  if (credentialChanged === true) state.credentialStale = true;
  return accepted(state);
}

const DELIVERED_CODE_REASONS = new Set<unknown>([
  'requires_sms_code',
  'requires_email_code',
  'requires_external_action',
]);

/** The result of an accepted request. */
export function accepted({ document }: ConnectionState): Accepted {
  return { revision: document.revision, document };
}

/** Rejects a request with a failure that its caller gets. */
export function refuse(code: RefusalCode, message: string): never {
  throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
}

/** The interaction that callers see and that answers are checked against. */
export function pendingInteraction({ document: { flow } }: ConnectionState): Interaction | null {
  return isInProgress(flow) ? flow.interaction : null;
}

/** True until the flow has ended or passed its expiry, when readers see it as EXPIRED. */
function isInProgress(flow: FlowState | null): flow is FlowState {
  return flow?.flow_status === 'IN_PROGRESS' && Date.now() < Date.parse(flow.flow_expires_at);
}

function wasApplied(state: ConnectionState, { submissionId }: SubmitInput): boolean {
  return submissionId !== null && state.appliedSubmissions.includes(submissionId);
}

/** Why an answer does not fit the interaction that callers see, or null. Pure. */
function refusalOf(interaction: Interaction | null, input: SubmitInput): { code: RefusalCode; message: string } | null {
  if (interaction === null)
    return {
      code: 'not_awaiting_input',
      message: 'Nothing awaits input on this connection; submit while it is AWAITING_INPUT',
    };
  if (interaction.interaction_id !== input.interactionId)
    return {
      code: 'stale_interaction',
      message: '`interaction_id` is not the pending one; read the connection and answer its current interaction',
    };
  if (input.wrongForm === true) return null;
  const { fieldIds, selectedChoiceId: choiceId } = input;
  if (interaction.takes_link === true && fieldIds.length === 1 && fieldIds[0] === MAILED_LINK) return null;
  const fault = checkAnswer(interaction, { fieldIds, choiceId });
  return fault === null ? null : { code: fault.code, message: messageOf(fault) };
}

function messageOf({ code, ids }: AnswerFault): string {
  const named = ids.map((id) => `\`${id}\``).join(', ');
  switch (code) {
    case 'unknown_field':
      return `${named}: not a field of the pending interaction; use the ids in \`fields\``;
    case 'unknown_choice':
      return `${named}: not a choice of the pending interaction; use an id in \`choices\``;
    case 'missing_field':
      return `${named}: required; submit every required field together`;
    case 'invalid_input':
      return 'The answer is empty; give values for fields, or `selected_choice_id`';
  }
}
