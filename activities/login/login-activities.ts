import type { FlowSession, LoginActivities, LoginTarget, Observation } from '../../contract/activities.ts';
import { deleteSession } from '../../browser-client/sessions.ts';
import { credentialFactsFor } from './credential-facts.ts';
import type { LoginDeps } from './deps.ts';
import { findLoginPage } from './discover.ts';
import { enterAnswer } from './enter.ts';
import { guard } from './faults.ts';
import { finishLogin } from './finish.ts';
import { checkHealth } from './health.ts';
import { withHeartbeat } from './heartbeat.ts';
import { readAfterLostEntry } from './read-after-entering.ts';
import { readLogin } from './read-login.ts';
import { keepRecordings, recordSession } from './record-session.ts';
import { isCaptured, openLoginSession } from './open-session.ts';
import { blameEgress, blameProxy, requireProxy } from './network-faults.ts';

/** A session outlives the longest flow, waiting included, so that it ends by itself only when nobody is left. */
const FLOW_SESSION_SECONDS = 25 * 60;

/** Makes the login activities of a worker. */
export function createLoginActivities(deps: LoginDeps): LoginActivities {
  const observe = async (
    target: LoginTarget,
    sessionId: string,
    reading: Observation['reading'],
  ): Promise<Observation> => {
    const page = await deps.pages.of(target.projectId, sessionId);
    return { reading, credential: await credentialFactsFor(deps, target, page, reading.fields) };
  };

  return {
    openSession: guard(({ target, flowId, attempt }) =>
      withHeartbeat(async (signal): Promise<FlowSession> => {
        const name = `flow-${flowId}-${String(attempt)}`;
        await requireProxy(deps, target);
        const session = await openLoginSession(deps.service, target, name, FLOW_SESSION_SECONDS, signal);
        return {
          sessionId: session.session_id,
          liveViewUrl: session.browser_live_view_url ?? null,
          telemetryCaptured: isCaptured(session),
          ...(await recordSession(deps.service, target, session.session_id, FLOW_SESSION_SECONDS, signal)),
        };
      }),
    ),

    discoverLogin: guard(({ target, sessionId }) =>
      withHeartbeat(async () => {
        const page = await deps.pages.of(target.projectId, sessionId);
        const reading = await blameEgress(page, deps.egress, () => findLoginPage(page, target, deps.egress));
        await blameProxy(deps, target, sessionId, reading);
        return await observe(target, sessionId, reading);
      }),
    ),

    readPage: guard(({ target, sessionId, submitted }) =>
      withHeartbeat(async (signal) => {
        if (submitted)
          return await observe(target, sessionId, await readAfterLostEntry(deps, target, sessionId, signal));
        const page = await deps.pages.of(target.projectId, sessionId);
        return await observe(target, sessionId, await readLogin(page));
      }),
    ),

    enterAnswer: guard((input) => withHeartbeat((signal) => enterAnswer(deps, input, signal))),

    finishLogin: guard((input) => withHeartbeat((signal) => finishLogin(deps, input, signal))),

    abandonLogin: guard(({ target, sessionId, keptId }) =>
      withHeartbeat(async (signal) => {
        if (keptId !== null) await deps.store.submissions.destroy(keptId);
        if (sessionId === null) return;
        await deps.pages.release(sessionId);
        await keepRecordings(deps, target, sessionId, signal);
        await deleteSession(deps.service, target.projectId, sessionId);
      }),
    ),

    checkHealth: guard(({ target, checkId }) => withHeartbeat((signal) => checkHealth(deps, target, checkId, signal))),
  };
}
