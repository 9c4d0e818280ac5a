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
import type { FlowEnd, FlowResult } from '../flow/context.ts';
import type { FlowInput } from '../flow/flow-workflows.ts';
import type { login, reauth } from '../flow/flow-workflows.ts';
import { answerSignal } from '../message-definitions.ts';
import { WORKFLOWS } from '../messages.ts';
import { codeChannelsOf } from '../policy/code-channels.ts';
import { versionOf } from '../policy/credential-version.ts';
import { rememberFields } from '../policy/field-refs.ts';
import { backOffAfter, withBackOff } from '../policy/intervals.ts';
import { fieldsOf, isPlanFailure, notePlanFailure, rememberPlan, stepsOf } from '../policy/login-plan.ts';
import { followablePlans, obstacleOf } from '../policy/reauth-gate.ts';
import { firstStep, stepTimesAfter } from '../policy/step-times.ts';
import { targetOf } from './login-target.ts';
import {
  flowEvent,
  gateInputOf,
  memoryOf,
  rescheduleCheck,
  touch,
  type ConnectionState,
  type RequestedFlow,
  type RunningFlow,
} from './state.ts';

/** How long after its expiry, or after it was told to stop, a flow may take to close its browser and say how it ended. */
const CLOSE_WITHIN_MS = 60_000;

/** A new id of a flow, which is that of its workflow, too. */
export function newFlowId(): string {
  return `flow_${uuid4().replaceAll('-', '')}`;
}

/** A flow that has just started, as callers see it before its first step. */
export function newFlow(flowType: FlowType, flowId: string, now: number): FlowState {
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

/** Makes a flow visible and has it run next. A flow that it takes the place of is over for callers from here on. */
export function requestFlow(state: ConnectionState, requested: RequestedFlow): void {
  stopFlow(state, 'EXPIRED');
  const flow = newFlow(requested.kind === 'login' ? 'LOGIN' : 'REAUTH', requested.flowId, Date.now());
  state.requestedFlow = requested;
  touch(state, { flow }, [{ ...flowEvent(flow, flow.started_at), step: 'INITIALIZED' }]);
}

/** Changes the flow that callers see, unless it has ended or another one has taken its place. */
export function patchFlow(state: ConnectionState, flowId: string, patch: Partial<FlowState>): void {
  const { flow } = state.document;
  if (flow?.flow_id !== flowId || flow.flow_status !== 'IN_PROGRESS') return;
  // A step that says what is known already makes no new state.
  if (Object.entries(patch).every(([name, value]) => Reflect.get(flow, name) === value)) return;
  const now = new Date().toISOString();
  const next = { ...flow, ...patch };
  // A flow that began before steps were timed has none to tell.
  if (flow.steps !== undefined) next.steps = stepTimesAfter(flow.steps, next, now);
  touch(state, { flow: next }, [flowEvent(next, now)]);
}

/** Ends the flow in progress, if there is one: callers see it at once, its child is told and closes its browser. */
export function stopFlow(state: ConnectionState, status: 'CANCELED' | 'EXPIRED'): void {
  state.requestedFlow = null;
  if (state.running !== null) state.running.stop ??= status;
  const { flow } = state.document;
  if (flow !== null) patchFlow(state, flow.flow_id, { ...OVER, flow_status: status });
}

/** Runs the flows that are asked for, one after the other: two browsers on one profile would save over each other. */
export async function runFlows(state: ConnectionState): Promise<void> {
  for (;;) {
    await condition(() => state.running !== null || state.requestedFlow !== null);
    const running = state.running ?? (await startRequested(state));
    if (running === null) continue;
    applyEnd(state, running, await untilEnded(running));
    // Only when its workflow has closed may this run hand over, or the next flow open the profile.
    await condition(() => !state.childOpen, CLOSE_WITHIN_MS);
    state.running = null;
    state.flowsEnded += 1;
    // A login tells as much of the session as a check: the next one is a whole interval away.
    rescheduleCheck(state);
  }
}

async function startRequested(state: ConnectionState): Promise<RunningFlow | null> {
  const requested = state.requestedFlow;
  const { flow, settings } = state.document;
  if (requested === null || flow === null) return null;
  const { kind, flowId } = requested;
  const running: RunningFlow = { kind, flowId, expiresAt: flow.flow_expires_at, stop: null, end: null };
  const memory = memoryOf(state.document);
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
      // The entity may continue as new while a flow runs, and tells a flow by a message of its own to stop.
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowExecutionTimeout: FLOW_LIFETIME_MS + CLOSE_WITHIN_MS,
      staticSummary: kind === 'login' ? 'Logs in with a person' : 'Logs in again with stored credentials',
    });
    state.childOpen = true;
    const closed = (end: FlowEnd): void => {
      // A flow tells its own end. One that was terminated or broke down can not.
      running.end ??= end;
      state.childOpen = false;
    };
    child.result().then(
      () => closed({ status: 'FAILED', result: null }),
      (error: unknown) => closed({ status: isCancellation(error) ? 'CANCELED' : 'FAILED', result: null }),
    );
  } catch {
    // Nothing runs under this id, so nothing is to be closed.
    running.end = { status: 'FAILED', result: null };
  } finally {
    state.startingFlow = false;
  }
  return running;
}

async function untilEnded(running: RunningFlow): Promise<FlowEnd> {
  const overdueAt = Date.parse(running.expiresAt) + CLOSE_WITHIN_MS;
  await condition(() => running.end !== null || running.stop !== null, Math.max(1, overdueAt - Date.now()));
  if (running.end === null) {
    await cancelChild(running.flowId);
    await condition(() => running.end !== null, CLOSE_WITHIN_MS);
  }
  return running.end ?? { status: running.stop ?? 'EXPIRED', result: null };
}

/** What is not true any more of a flow that has ended. */
const OVER = { interaction: null, external_action_message: null } as const;

/** What is said of a flow that could not tell its end. */
const ENDED_FROM_OUTSIDE = {
  error_code: 'internal_error',
  error_message: 'The login was ended from outside; start a new one',
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
    touch(state, {
      reauth,
      status: 'AUTHENTICATED',
      post_login_url: finished.postLoginUrl,
      // Another session may be told by something else.
      request_check: undefined,
      ...(finished.account === undefined || finished.account === null ? {} : { account: finished.account }),
      settings: attach ? { ...settings, credential: { name: credentialName } } : settings,
    });
  }
  const failed = status === 'FAILED';
  const backOff = kind === 'reauth' && status !== 'SUCCESS' ? reauth.backOff : null;
  if (status !== 'SUCCESS' && kind === 'reauth') touch(state, { reauth, status: 'NEEDS_AUTH' });
  else if (status !== 'SUCCESS' && result !== null) touch(state, { reauth });
  const told = {
    ...(failed ? ENDED_FROM_OUTSIDE : {}),
    ...(failed && result !== null ? { error_code: result.errorCode, error_message: result.errorMessage } : {}),
  };
  patchFlow(state, flowId, {
    ...OVER,
    flow_status: status,
    ...(status === 'SUCCESS' ? { flow_step: 'COMPLETED' as const, website_error: null } : {}),
    ...(typeof result?.websiteError === 'string' ? { website_error: result.websiteError } : {}),
    ...(typeof result?.evidence === 'string' ? { evidence: result.evidence } : {}),
    ...told,
    ...(backOff === null ? {} : { error_message: withBackOff(told.error_message ?? null, backOff) }),
  });
}

/** What is known of logging in with nobody there once a flow has ended. */
function memoryAfter(
  { document, credential }: ConnectionState,
  { kind, flowId }: RunningFlow,
  end: FlowEnd,
): ReauthMemory {
  const known = memoryOf(document);
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
  // What a person meets says little of what nobody would, but that the site takes no attempts: not ours either.
  if (kind === 'login' && code !== 'max_attempts_reached') return before;
  if (reason !== null) return { ...before, obstacle: { reason, credential: version }, backOff: null };
  const planId = result?.followed?.planId ?? known.plans[0]?.id;
  const isPlans = code !== null && planId !== undefined && isPlanFailure(code);
  const { health_check_interval: interval } = document.settings;
  return {
    ...before,
    ...(isPlans ? { plans: notePlanFailure(known.plans, planId, version) } : {}),
    backOff: backOffAfter(code, before.backOff, version, interval, Date.now()),
  };
}

/** What a login that went well has taught. A site that asked for nothing has said nothing of what a login takes. */
function memoryAfterLogin(known: ReturnType<typeof memoryOf>, flowId: string, result: FlowResult): ReauthMemory {
  const { refused, refusedCodes = null, requirements, followed, finished } = result;
  const steps = result.steps ?? (requirements === undefined ? [] : stepsOf(requirements));
  const credentialId = finished?.credential?.id ?? null;
  const tried = finished?.credential ?? null;
  // The site has gone another way than the plan that was followed, whether or not that led in as well.
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

/** What a person has said of the forms; nothing from a flow that is older than it. */
function formsOf({ forms }: FlowResult): Pick<ReauthMemory, 'forms'> {
  return forms === undefined ? {} : { forms };
}

/** Ends the flow of a connection whose workflow was ended from outside meanwhile: its child may still hold a browser. */
export async function abandonFlow(state: ConnectionState): Promise<void> {
  const { flow } = state.document;
  if (flow?.flow_status !== 'IN_PROGRESS') return;
  patchFlow(state, flow.flow_id, { ...OVER, ...ENDED_FROM_OUTSIDE, flow_status: 'FAILED' });
  await cancelChild(flow.flow_id);
}

/** Tells a flow to close its browser and end. One that has gone already has nothing to close. */
async function cancelChild(flowId: string): Promise<void> {
  await getExternalWorkflowHandle(flowId)
    .cancel()
    .catch(() => undefined);
}

/** Hands accepted answers, and word of withdrawn interactions, on to the flow that waits, in order. */
export async function deliverAnswers(state: ConnectionState): Promise<void> {
  for (;;) {
    await condition(() => state.outbox.length > 0);
    const [answer] = state.outbox;
    if (answer === undefined) continue;
    try {
      await getExternalWorkflowHandle(answer.flowId).signal(answerSignal, answer);
    } catch (error) {
      if (isCancellation(error)) throw error;
      // The flow has ended: its end is on its way, and nobody waits for the answer.
    }
    state.outbox.shift();
  }
}
