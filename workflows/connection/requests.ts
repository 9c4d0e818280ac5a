import { ApplicationFailure } from '@temporalio/workflow';
import { checkAnswer, MAILED_LINK, type AnswerFault } from '../../contract/answer-check.ts';
import type { ConnectionSettings, FlowState } from '../../contract/document.ts';
import type { Interaction } from '../../contract/interaction.ts';
import type { Accepted, Addressed, ConfigureRequest, LoginRequest, RefusalCode, SubmitInput } from '../messages.ts';
import { patchFlow, requestFlow } from './flows.ts';
import { rememberSubmission, rescheduleCheck, touch, type ConnectionState } from './state.ts';

/*
 * What callers may ask of a connection: each `check…` refuses what cannot be done by a failure that the caller gets, each
 * `apply…` changes the state. None waits, and none needs more of Temporal than that failure.
 */

/** Refuses a message that is not for this connection. */
export function checkAddressed(state: ConnectionState, message: Addressed): void {
  // A workflow id is used again after a deletion, and the row may not be in yet: neither answers for this id.
  if (message.connectionId !== state.document.id || !state.inserted || state.removeRequested)
    refuse('not_found', 'No such connection');
}

/** Refuses a login while a flow is in progress, unless it is the request that began it. */
export function checkLogin(state: ConnectionState, request: LoginRequest): void {
  checkAddressed(state, request);
  if (request.loginId === state.lastLoginId) return;
  const { flow } = state.document;
  if (isInProgress(flow))
    refuse('flow_in_progress', `A flow is in progress until ${flow.flow_expires_at}; finish it or wait`);
}

/** Begins a login flow, under the id that `newFlowId` makes. */
export function applyLogin(state: ConnectionState, request: LoginRequest, newFlowId: () => string): Accepted {
  if (request.loginId !== state.lastLoginId) {
    state.lastLoginId = request.loginId;
    requestFlow(state, { kind: 'login', request, flowId: newFlowId() });
  }
  return accepted(state);
}

/** Refuses an answer that does not fit what waits, unless it was taken before. */
export function checkSubmit(state: ConnectionState, input: SubmitInput): void {
  checkAddressed(state, input);
  if (wasApplied(state, input)) return;
  const refusal = refusalOf(pendingInteraction(state), input);
  if (refusal !== null) refuse(refusal.code, refusal.message);
}

/** True of an answer by signal that is to be applied: nobody learns of its refusal. */
export function isAcceptable(state: ConnectionState, input: SubmitInput): boolean {
  return input.connectionId === state.document.id && refusalOf(pendingInteraction(state), input) === null;
}

/** Puts an answer on its way to the flow, once. */
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

/** Changes settings; what depends on them follows at once. */
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
    // Whoever attaches other values may mean another account.
    const { account: _account, ...document } = state.document;
    state.document = document;
  }
  const { reauth } = state.document;
  const codesChanged = JSON.stringify(before.codes) !== JSON.stringify(settings.codes);
  // A code or a link that nobody was there to give may come by itself now.
  const mayComeNow = codesChanged && CODES_THAT_ARE_SENT.has(reauth?.obstacle?.reason);
  touch(state, { settings, ...(reauth !== undefined && mayComeNow ? { reauth: { ...reauth, obstacle: null } } : {}) });
  if (
    before.health_check_interval !== settings.health_check_interval ||
    before.health_checks !== settings.health_checks
  )
    rescheduleCheck(state);
  if (credentialChanged === true) state.credentialStale = true;
  return accepted(state);
}

const CODES_THAT_ARE_SENT = new Set<unknown>(['requires_sms_code', 'requires_email_code', 'requires_external_action']);

/** What a caller gets for a request that was done. */
export function accepted({ document }: ConnectionState): Accepted {
  return { revision: document.revision, document };
}

/** Refuses a request by a failure that its caller gets. */
export function refuse(code: RefusalCode, message: string): never {
  throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
}

/** The interaction that callers see, which is the one that an answer is held against. */
export function pendingInteraction({ document: { flow } }: ConnectionState): Interaction | null {
  return isInProgress(flow) ? flow.interaction : null;
}

/** True until the flow has ended, or its time is over: whoever reads it then sees it EXPIRED. */
function isInProgress(flow: FlowState | null): flow is FlowState {
  return flow?.flow_status === 'IN_PROGRESS' && Date.now() < Date.parse(flow.flow_expires_at);
}

function wasApplied(state: ConnectionState, { submissionId }: SubmitInput): boolean {
  return submissionId !== null && state.appliedSubmissions.includes(submissionId);
}

/**
 * Why an answer cannot be taken, or null when it can. It is held against what callers see, so that whoever answers what is
 * shown is never told that nothing waits. Pure.
 * @param interaction the one that waits, or null.
 */
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
