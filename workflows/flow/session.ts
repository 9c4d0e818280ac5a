import { ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import type { Observation } from '../../contract/activities.ts';
import { afterLostSession } from '../policy/decide.ts';
import type { FlowContext, Progress } from './context.ts';
import { failureCodeOf } from './failures.ts';

/** How often a flow opens a new session after the last one was lost. */
const MAX_SESSIONS = 8;

/** Opens a session and leads it to the login page; a session that is lost on the way is replaced, a few times. */
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
    const { sessionId } = session;
    const observation = await guarded(progress, () =>
      context.browser.discoverLogin({ target: context.target, sessionId }),
    );
    if (observation !== null) return observation;
  }
}

/** Leaves a session of which it is not known what the site has made of it, for one that has seen nothing. */
export async function startOver(context: FlowContext, progress: Progress): Promise<Observation> {
  await abandon(context, { ...progress, keptId: null });
  progress.sessionId = null;
  return await discover(context, progress);
}

/** Runs a step on the session; null when the session is gone, so that the caller starts over. */
export async function guarded<Result>(
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

/** Closes what a flow that did not succeed leaves: its session, and the values it kept. Runs under cancellation too. */
export async function abandon(context: FlowContext, progress: Progress): Promise<void> {
  if (progress.sessionId === null && progress.keptId === null) return;
  const { sessionId, keptId } = progress;
  await CancellationScope.nonCancellable(async () => {
    try {
      await context.browser.abandonLogin({ target: context.target, sessionId, keptId });
    } catch {
      // The browser service ends a session that nobody uses; nothing is left to be done here.
    }
  });
}
