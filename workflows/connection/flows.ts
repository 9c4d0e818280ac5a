import { CancellationScope, condition, executeChild, isCancellation, ParentClosePolicy } from '@temporalio/workflow';
import type { FlowStatus, FlowType } from '../../contract/connections.ts';
import type { FlowState } from '../../contract/document.ts';
import type { FlowContext, FlowPatch, FlowResult, PersonAnswer } from '../flow/context.ts';
import { runFlow } from '../flow/run-flow.ts';
import { WORKFLOWS, type LoginRequest } from '../messages.ts';
import type { Question } from '../policy/decide.ts';
import { FLOW_LIFETIME_MS, PERSON_WAIT_MS } from '../../contract/limits.ts';
import type { reauth } from '../reauth.ts';
import { flowEvent, targetOf, touch, type ConnectionState, type Pause } from './state.ts';

/** A flow that has just started, as callers see it before its first step. */
export function newFlow(flowType: FlowType, flowId: string, now: number): FlowState {
  return {
    flow_id: flowId,
    flow_type: flowType,
    flow_status: 'IN_PROGRESS',
    flow_step: 'DISCOVERING',
    flow_expires_at: new Date(now + FLOW_LIFETIME_MS).toISOString(),
    started_at: new Date(now).toISOString(),
    browser_session_id: null,
    live_view_url: null,
    interaction: null,
    external_action_message: null,
    sso_provider: null,
    error_code: null,
    error_message: null,
    website_error: null,
  };
}

/** Changes the flow that callers see, unless another one has taken its place. */
export function patchFlow(state: ConnectionState, flowId: string, patch: Partial<FlowState>): void {
  const { flow } = state.document;
  if (flow?.flow_id !== flowId) return;
  const next = { ...flow, ...patch };
  // A step that says what is known already makes no new state.
  if (Object.entries(patch).every(([name, value]) => Reflect.get(flow, name) === value)) return;
  touch(state, { flow: next }, [flowEvent(next, new Date().toISOString())]);
}

/** Runs a LOGIN flow inside the entity, to its end. */
export async function runLogin(state: ConnectionState, request: LoginRequest, flowId: string): Promise<void> {
  const context: FlowContext = {
    mode: 'attended',
    flowId,
    target: targetOf(state, request),
    expiresAt: expiryOf(state),
    saveCredentials: state.document.settings.save_credentials,
    refused: state.refused,
    report: (patch: FlowPatch) => {
      patchFlow(state, flowId, patch);
    },
    awaitAnswer: (question, interactionId) => awaitAnswer(state, question, interactionId),
  };
  await settleFlow(state, flowId, () => runFlow(context));
}

/** Runs a REAUTH flow in a child, to its end. */
export async function runReauth(state: ConnectionState, flowId: string): Promise<void> {
  const input = {
    flowId,
    target: targetOf(state),
    expiresAt: expiryOf(state),
    refused: state.refused,
    saveCredentials: false,
  };
  await settleFlow(state, flowId, () =>
    executeChild<typeof reauth>(WORKFLOWS.reauth, {
      workflowId: `reauth-${flowId}`,
      args: [input],
      // A child that is told to stop closes its browser; a terminated one would leave it open.
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      workflowExecutionTimeout: FLOW_LIFETIME_MS + 5 * 60_000,
    }),
  );
}

/** Runs a flow within its life time and writes down how it ended. */
async function settleFlow(state: ConnectionState, flowId: string, run: () => Promise<FlowResult>): Promise<void> {
  const remaining = Math.max(1, Date.parse(expiryOf(state)) - Date.now());
  let result: FlowResult | null = null;
  let status: FlowStatus = 'FAILED';
  try {
    result = await CancellationScope.withTimeout(remaining, run);
    status = result.status;
  } catch (error) {
    if (Date.now() >= Date.parse(expiryOf(state))) status = 'EXPIRED';
    else if (isCancellation(error) || state.removeRequested) status = 'CANCELED';
  }
  state.pause = null;
  applyResult(state, flowId, status, result);
}

function applyResult(state: ConnectionState, flowId: string, status: FlowStatus, result: FlowResult | null): void {
  const finished = result?.finished ?? null;
  if (result !== null) state.refused = result.refused;
  if (status === 'SUCCESS' && finished !== null) {
    state.hadLogin = true;
    state.credential = finished.credential;
    if (result !== null && result.requirements.fields.length > 0) state.requirements = result.requirements;
    if (typeof result?.loginPageUrl === 'string') state.loginPageUrl = result.loginPageUrl;
    const { settings } = state.document;
    touch(state, {
      status: 'AUTHENTICATED',
      post_login_url: finished.postLoginUrl,
      settings:
        finished.credentialName === null || settings.credential !== undefined
          ? settings
          : { ...settings, credential: { name: finished.credentialName } },
    });
  }
  patchFlow(state, flowId, {
    flow_status: status,
    ...(status === 'SUCCESS' ? { flow_step: 'COMPLETED' as const, website_error: null } : {}),
    interaction: null,
    external_action_message: null,
    error_code: status === 'FAILED' ? (result?.errorCode ?? 'internal_error') : null,
    error_message: status === 'FAILED' ? (result?.errorMessage ?? 'The login could not go on; try again.') : null,
    ...(typeof result?.websiteError === 'string' ? { website_error: result.websiteError } : {}),
  });
  if (status !== 'SUCCESS' && state.document.flow?.flow_type === 'REAUTH') touch(state, { status: 'NEEDS_AUTH' });
}

async function awaitAnswer(state: ConnectionState, question: Question, interactionId: string): Promise<PersonAnswer> {
  const pause: Pause = { question, interactionId, answer: null };
  state.pause = pause;
  try {
    await condition(() => pause.answer !== null, PERSON_WAIT_MS);
  } finally {
    if (state.pause === pause) state.pause = null;
  }
  return pause.answer === null ? { kind: 'timeout' } : { kind: 'submitted', input: pause.answer };
}

function expiryOf(state: ConnectionState): string {
  return state.document.flow?.flow_expires_at ?? new Date(Date.now() + FLOW_LIFETIME_MS).toISOString();
}
