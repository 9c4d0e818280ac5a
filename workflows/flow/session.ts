import { ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import type { Observation } from '../../contract/activities.ts';
import { afterLostSession } from '../policy/last-entry.ts';
import { currentTarget, type FlowContext, type Progress } from './context.ts';
import { failureCodeOf } from './failures.ts';

/** Most sessions that a flow opens, each after the last one was lost. */
const MAX_SESSIONS = 8;

/** Most rejected forms that are remembered; no site has as many. */
const MAX_PASSED_OVER = 20;

/** Opens a session and navigates it to the login page; a session that is lost on the way is replaced, a few times. */
export async function discover(context: FlowContext, progress: Progress): Promise<Observation> {
  for (;;) {
    if (progress.sessions >= MAX_SESSIONS)
      throw ApplicationFailure.nonRetryable('The browser was lost too often; start a new login', 'browser_error');
    progress.sessions += 1;
    if (progress.last !== null && progress.sessions > 1)
      progress.last = afterLostSession(progress.last, progress.sessions);
    context.report({
      flow_step: 'DISCOVERING',
      interaction: null,
      external_action_message: null,
      browser_session_id: null,
    });
    const session = await context.browser.openSession({
      target: context.target,
      flowId: context.flowId,
      attempt: progress.sessions,
    });
    progress.sessionId = session.sessionId;
    context.report({
      browser_session_id: session.sessionId,
      live_view_url: session.liveViewUrl,
      ...(session.telemetryCaptured === true ? { telemetry_captured: true } : {}),
      replay_id: session.replayId ?? null,
      ...(session.replayError === undefined ? {} : { replay_error: session.replayError }),
    });
    const observation = await findLoginPage(context, progress);
    if (observation !== null) return observation;
  }
}

/** Replaces a session in an unknown state with a fresh one. */
export async function startOver(context: FlowContext, progress: Progress): Promise<Observation> {
  await abandon(context, { ...progress, keptId: null });
  progress.sessionId = null;
  return await discover(context, progress);
}

/** Discards a form that a person called wrong and shows the next one; after the last, the first again. */
export async function showAnotherForm(
  context: FlowContext,
  progress: Progress,
  { reading }: Observation,
): Promise<Observation> {
  const passedOver = [...(progress.forms?.passedOver ?? []), ...(reading.forms?.slice(0, 1) ?? [])];
  progress.forms = { taken: null, passedOver: [...new Set(passedOver)].slice(-MAX_PASSED_OVER) };
  progress.last = null;
  progress.steps = [];
  await abandon(context, { ...progress, sessionId: null });
  progress.keptId = null;
  const seen = (await findLoginPage(context, progress)) ?? (await discover(context, progress));
  const [taken] = seen.reading.forms ?? [];
  if (taken === undefined) return seen;
  const isAnother = !passedOver.includes(taken);
  progress.forms = isAnother ? { ...progress.forms, taken } : { taken: null, passedOver: [] };
  progress.formNotice = isAnother ? 'another_form' : 'first_form_again';
  return seen;
}

/** A captcha page may lead to the site's home page: the login page is then looked for from there. */
export async function resumeDiscovery(
  context: FlowContext,
  progress: Progress,
  seen: Observation,
): Promise<Observation> {
  if (seen.reading.kind !== 'other' || progress.entered > 0) return seen;
  return (await findLoginPage(context, progress)) ?? (await discover(context, progress));
}

async function findLoginPage(context: FlowContext, progress: Progress): Promise<Observation | null> {
  return await withSession(progress, (sessionId) =>
    context.browser.discoverLogin({ target: currentTarget(context, progress), sessionId }),
  );
}

/** Runs a step on the session; null if the session is gone, so that the caller starts over. */
export async function withSession<Result>(
  progress: Progress,
  step: (sessionId: string) => Promise<Result>,
): Promise<Result | null> {
  if (progress.sessionId === null) return null;
  try {
    return await step(progress.sessionId);
  } catch (error) {
    if (isCancellation(error) || failureCodeOf(error) !== 'session_gone') throw error;
    progress.sessionId = null;
    return null;
  }
}

/** Discards the session and the kept values of a flow that did not succeed. Runs under cancellation too. */
export async function abandon(context: FlowContext, progress: Progress): Promise<void> {
  if (progress.sessionId === null && progress.keptId === null) return;
  const { sessionId, keptId } = progress;
  await CancellationScope.nonCancellable(async () => {
    try {
      await context.browser.abandonLogin({ target: context.target, sessionId, keptId });
    } catch {
      // The browser service ends unused sessions by itself.
    }
  });
}
