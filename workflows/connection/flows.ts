import {
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  startChild,
  uuid4,
} from '@temporalio/workflow';
import type { FlowType } from '../../contract/connections.ts';
import type { FlowState, ReauthMemory } from '../../contract/document.ts';
import { FLOW_LIFETIME_MS } from '../../contract/limits.ts';
import type { FlowEnd, FlowInput, FlowResult } from '../flow/context.ts';
import type { login, reauth } from '../flow/flow-workflows.ts';
import { answerSignal } from '../message-definitions.ts';
import { WORKFLOWS } from '../messages.ts';
import { versionOf } from '../policy/credential-version.ts';
import { rememberFields } from '../policy/field-refs.ts';
import { backOffAfter, withBackOff } from '../policy/back-off.ts';
import { fieldsOf, isPlanFailure, notePlanFailure, rememberPlan, stepsOf } from '../policy/login-plan.ts';
import { codeChannelsOf, followablePlans, obstacleOf } from '../policy/reauth-gate.ts';
import { firstStep, stepTimesAfter } from '../policy/step-times.ts';
import { targetOf } from './login-target.ts';
import {
  flowEvent,
  gateInputOf,
  reauthMemory,
  rescheduleCheck,
  applyChange,
  type ConnectionState,
  type RequestedFlow,
  type RunningFlow,
} from './state.ts';

/** How long a flow may take to close its browser and report its end, after its expiry or after it was stopped. */
const CLOSE_WITHIN_MS = 60_000;

/** A new flow id; also the flow's workflow id. */
export function newFlowId(): string {
  return `flow_${uuid4().replaceAll('-', '')}`;
}

/** A flow that has just started, as callers see it before its first step. */
function newFlow(flowType: FlowType, flowId: string, now: number): FlowState {
  return {
    flow_id: flowId,
    flow_type: flowType,
    flow_status: 'IN_PROGRESS',
    flow_step: 'DISCOVERING',
    flow_expires_at: new Date(now + FLOW_LIFETIME_MS).toISOString(),
    started_at: new Date(now).toISOString(),
    steps: firstStep('DISCOVERING', new Date(now).toISOString()),
    passwords_typed: 0,
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

/** Makes a flow visible and queues it to run next. Callers see the flow it replaces as expired from here on. */
export function requestFlow(state: ConnectionState, requested: RequestedFlow): void {
  stopFlow(state, 'EXPIRED');
  const flow = newFlow(requested.kind === 'login' ? 'LOGIN' : 'REAUTH', requested.flowId, Date.now());
  state.requestedFlow = requested;
  applyChange(state, { flow }, [{ ...flowEvent(flow, flow.started_at), step: 'INITIALIZED' }]);
}

/** Changes the flow that callers see, unless it has ended or was replaced by another. */
export function patchFlow(state: ConnectionState, flowId: string, patch: Partial<FlowState>): void {
  const { flow } = state.document;
  if (flow?.flow_id !== flowId || flow.flow_status !== 'IN_PROGRESS') return;
  // A patch that changes nothing makes no new revision.
  if (Object.entries(patch).every(([name, value]) => Reflect.get(flow, name) === value)) return;
  const now = new Date().toISOString();
  const next = { ...flow, ...patch };
  // A flow that began before steps were timed has no step times.
  if (flow.steps !== undefined) next.steps = stepTimesAfter(flow.steps, next, now);
  applyChange(state, { flow: next }, [flowEvent(next, now)]);
}

/** Ends the flow in progress, if there is one: callers see it at once; its child is canceled and closes its browser. */
export function stopFlow(state: ConnectionState, status: 'CANCELED' | 'EXPIRED'): void {
  state.requestedFlow = null;
  if (state.running !== null) state.running.stop ??= status;
  const { flow } = state.document;
  if (flow !== null) patchFlow(state, flow.flow_id, { ...CLEARED_FIELDS, flow_status: status });
}

/** Runs requested flows one at a time: two browsers on one profile would overwrite each other's changes. */
export async function runFlows(state: ConnectionState): Promise<void> {
  for (;;) {
    await condition(() => state.running !== null || state.requestedFlow !== null);
    const running = state.running ?? (await startRequested(state));
    if (running === null) continue;
    applyEnd(state, running, await waitForEnd(running));
    // Until its workflow has closed, this run must not continue as new and no other flow may open the profile.
    await condition(() => !state.childOpen, CLOSE_WITHIN_MS);
    state.running = null;
    state.flowsEnded += 1;
    // A login verifies the session as well as a check does: the next check is a whole interval away.
    rescheduleCheck(state);
  }
}

async function startRequested(state: ConnectionState): Promise<RunningFlow | null> {
  const requested = state.requestedFlow;
  const { flow, settings } = state.document;
  if (requested === null || flow === null) return null;
  const { kind, flowId } = requested;
  const running: RunningFlow = { kind, flowId, expiresAt: flow.flow_expires_at, stop: null, end: null };
  const memory = reauthMemory(state.document);
  const input: FlowInput = {
    flowId,
    target: targetOf(state, kind === 'login' ? requested.request : null),
    expiresAt: running.expiresAt,
    refused: memory.refused,
    refusedCodes: memory.refusedCodes ?? null,
    plans: kind === 'reauth' ? followablePlans(gateInputOf(state)) : [],
    knownFields: memory.fields ?? [],
    saveCredentials: kind === 'login' && settings.save_credentials,
    codeChannels: codeChannelsOf(settings),
  };
  state.requestedFlow = null;
  state.running = running;
  state.startingFlow = true;
  try {
    const child = await startChild<typeof login | typeof reauth>(WORKFLOWS[kind], {
      workflowId: flowId,
      args: [input],
      // The entity may continue as new while a flow runs, and cancels a flow explicitly.
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowExecutionTimeout: FLOW_LIFETIME_MS + CLOSE_WITHIN_MS,
      staticSummary: kind === 'login' ? 'Logs in with a person' : 'Logs in again with stored credentials',
    });
    state.childOpen = true;
    const closed = (end: FlowEnd): void => {
      // A flow reports its own end, unless it was terminated or crashed.
      running.end ??= end;
      state.childOpen = false;
    };
    child.result().then(
      () => closed({ status: 'FAILED', result: null }),
      (error: unknown) => closed({ status: isCancellation(error) ? 'CANCELED' : 'FAILED', result: null }),
    );
  } catch {
    // No child was started under this id, so there is nothing to close.
    running.end = { status: 'FAILED', result: null };
  } finally {
    state.startingFlow = false;
  }
  return running;
}

async function waitForEnd(running: RunningFlow): Promise<FlowEnd> {
  const overdueAt = Date.parse(running.expiresAt) + CLOSE_WITHIN_MS;
  await condition(() => running.end !== null || running.stop !== null, Math.max(1, overdueAt - Date.now()));
  if (running.end === null) {
    await cancelChild(running.flowId);
    await condition(() => running.end !== null, CLOSE_WITHIN_MS);
  }
  return running.end ?? { status: running.stop ?? 'EXPIRED', result: null };
}

/** Fields cleared when a flow ends. */
const CLEARED_FIELDS = { interaction: null, external_action_message: null } as const;

/** Error of a flow that could not report its own end. */
const ENDED_FROM_OUTSIDE = {
  error_code: 'internal_error',
  error_message: 'The login was terminated externally; start a new one',
} as const;

function applyEnd(state: ConnectionState, running: RunningFlow, end: FlowEnd): void {
  const { kind, flowId } = running;
  const { status, result } = end;
  const reauth = memoryAfter(state, running, end);
  const finished = result?.finished ?? null;
  if (status === 'SUCCESS' && result !== null && finished !== null) {
    state.hadLogin = true;
    state.credential = finished.credential;
    state.loginPageUrl = result.loginPageUrl ?? state.loginPageUrl;
    const { settings } = state.document;
    const { credentialName } = finished;
    const attach = credentialName !== null && settings.credential === undefined;
    applyChange(state, {
      reauth,
      status: 'AUTHENTICATED',
      post_login_url: finished.postLoginUrl,
      // The new session may need another request to check it.
      request_check: undefined,
      ...(finished.account === undefined || finished.account === null ? {} : { account: finished.account }),
      settings: attach ? { ...settings, credential: { name: credentialName } } : settings,
    });
  }
  const failed = status === 'FAILED';
  const backOff = kind === 'reauth' && status !== 'SUCCESS' ? reauth.backOff : null;
  if (status !== 'SUCCESS' && kind === 'reauth') applyChange(state, { reauth, status: 'NEEDS_AUTH' });
  else if (status !== 'SUCCESS' && result !== null) applyChange(state, { reauth });
  const failure = {
    ...(failed ? ENDED_FROM_OUTSIDE : {}),
    ...(failed && result !== null ? { error_code: result.errorCode, error_message: result.errorMessage } : {}),
  };
  patchFlow(state, flowId, {
    ...CLEARED_FIELDS,
    flow_status: status,
    ...(status === 'SUCCESS' ? { flow_step: 'COMPLETED' as const, website_error: null } : {}),
    ...(typeof result?.websiteError === 'string' ? { website_error: result.websiteError } : {}),
    ...(typeof result?.evidence === 'string' ? { evidence: result.evidence } : {}),
    ...failure,
    ...(backOff === null ? {} : { error_message: withBackOff(failure.error_message ?? null, backOff) }),
  });
}

/** What is known about unattended login after a flow has ended. */
function memoryAfter(
  { document, credential }: ConnectionState,
  { kind, flowId }: RunningFlow,
  end: FlowEnd,
): ReauthMemory {
  const known = reauthMemory(document);
  const { status, result } = end;
  if (status === 'SUCCESS') return result === null ? known : memoryAfterLogin(known, flowId, result);
  const before =
    result === null
      ? known
      : { ...known, refused: result.refused, refusedCodes: result.refusedCodes ?? null, ...formsOf(result) };
  const code = result?.errorCode ?? null;
  const tried = result?.credential ?? credential;
  const version = tried === null ? null : versionOf(tried);
  const reason = code === null ? null : obstacleOf(code);
  // An attended login says little about an unattended one, except when the site accepts no attempts at all.
  if (kind === 'login' && code !== 'max_attempts_reached') return before;
  if (reason !== null) return { ...before, obstacle: { reason, credential: version }, backOff: null };
  const planId = result?.followed?.planId ?? known.plans[0]?.id;
  const countsAgainstPlan = code !== null && planId !== undefined && isPlanFailure(code);
  const { health_check_interval: interval } = document.settings;
  return {
    ...before,
    ...(countsAgainstPlan ? { plans: notePlanFailure(known.plans, planId, version) } : {}),
    backOff: backOffAfter(code, before.backOff, version, interval, Date.now()),
  };
}

/** What a successful login adds. A site that asked for nothing has shown nothing about how to log in. */
function memoryAfterLogin(known: ReturnType<typeof reauthMemory>, flowId: string, result: FlowResult): ReauthMemory {
  const { refused, refusedCodes = null, requirements, followed, finished } = result;
  const steps = result.steps ?? (requirements === undefined ? [] : stepsOf(requirements));
  const credentialId = finished?.credential?.id ?? null;
  const tried = finished?.credential ?? null;
  // The site departed from the plan that was followed, whether or not the login succeeded.
  const plans =
    followed?.departed === true
      ? notePlanFailure(known.plans, followed.planId, tried === null ? null : versionOf(tried))
      : known.plans;
  const asked = result.loginPageUrl !== null || steps.some(({ external }) => external);
  return {
    ...known,
    refused,
    refusedCodes,
    ...formsOf(result),
    plans: steps.length === 0 ? plans : rememberPlan(plans, { id: flowId, credential_id: credentialId, steps }),
    obstacle: asked ? null : known.obstacle,
    fields: rememberFields(known.fields ?? [], fieldsOf(steps)),
    backOff: null,
  };
}

/** The form choice of the person; empty for a flow from before it was recorded. */
function formsOf({ forms }: FlowResult): Pick<ReauthMemory, 'forms'> {
  return forms === undefined ? {} : { forms };
}

/** Ends the flow of a connection whose workflow was terminated externally: its child may still hold a browser. */
export async function abandonFlow(state: ConnectionState): Promise<void> {
  const { flow } = state.document;
  if (flow?.flow_status !== 'IN_PROGRESS') return;
  patchFlow(state, flow.flow_id, { ...CLEARED_FIELDS, ...ENDED_FROM_OUTSIDE, flow_status: 'FAILED' });
  await cancelChild(flow.flow_id);
}

/** Cancels a flow, which then closes its browser. A flow that has already ended has nothing to close. */
async function cancelChild(flowId: string): Promise<void> {
  await getExternalWorkflowHandle(flowId)
    .cancel()
    .catch(() => undefined);
}

/** Delivers accepted answers and withdrawn interactions to the waiting flow, in order. */
export async function deliverAnswers(state: ConnectionState): Promise<void> {
  for (;;) {
    await condition(() => state.outbox.length > 0);
    const [answer] = state.outbox;
    if (answer === undefined) continue;
    try {
      await getExternalWorkflowHandle(answer.flowId).signal(answerSignal, answer);
    } catch (error) {
      if (isCancellation(error)) throw error;
      // The flow has ended: its result is on its way, and nobody waits for the answer.
    }
    state.outbox.shift();
  }
}
