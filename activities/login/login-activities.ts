import type { FlowSession, LoginActivities, LoginTarget, Observation } from '../../contract/activities.ts';
import { deleteSession } from '../../browser-client/sessions.ts';
import { observeCaptcha, askSolver, takeSolution } from './captcha/solve.ts';
import { credentialFactsForPage } from './credentials/attached-credential.ts';
import type { LoginDeps } from './deps.ts';
import { findLoginPage } from './find-login-page.ts';
import { enterAnswer } from './entering/enter-answer.ts';
import { guard, withHeartbeat } from '../activity.ts';
import { finishLogin } from './finish-login.ts';
import { checkHealth } from './checks/check-health.ts';
import { readAfterLostWorker } from './reading/read-after-entering.ts';
import { confineNavigation, closeForeignWindows } from './session/windows.ts';
import { readLogin } from './reading/read-login.ts';
import { saveRecordings, recordSession } from './session/record-session.ts';
import { createPasskeys } from './credentials/passkeys.ts';
import { openMailedLink } from './open-mailed-link.ts';
import { hasTelemetry, openLoginSession } from './session/open-session.ts';
import { failOnRefusedAddress, failOnProxyError, assertProxyExists } from './session/network-errors.ts';

/** A session outlives the longest flow, waiting included, so that it ends by itself only when nobody is left. */
const FLOW_SESSION_SECONDS = 25 * 60;

/** Makes the login activities of a worker. */
export function createLoginActivities(deps: LoginDeps): LoginActivities {
  const passkeys = createPasskeys(deps);
  /** Runs a step on the pages of a login, whose prompts for a passkey answer themselves meanwhile. */
  const withPasskeys = async <Result>(
    { target, sessionId }: { target: LoginTarget; sessionId: string },
    step: () => Promise<Result>,
  ): Promise<Result> => {
    await passkeys.prepare(target, sessionId);
    const result = await step();
    await passkeys.saveSignCounts(target, sessionId);
    return result;
  };
  const observe = async (
    target: LoginTarget,
    sessionId: string,
    reading: Observation['reading'],
  ): Promise<Observation> => {
    const page = await deps.pages.of(target.projectId, sessionId);
    const captcha = await observeCaptcha(deps, { target, sessionId }, reading);
    await confineNavigation(page, target, reading.kind === 'captcha' || captcha.unproved === true);
    return { reading, credential: await credentialFactsForPage(deps, target, page, reading.fields), ...captcha };
  };

  return {
    openSession: guard(({ target, flowId, attempt }) =>
      withHeartbeat(async (signal): Promise<FlowSession> => {
        const name = `flow-${flowId}-${String(attempt)}`;
        await assertProxyExists(deps, target);
        const session = await openLoginSession(deps.service, target, name, FLOW_SESSION_SECONDS, signal);
        return {
          sessionId: session.session_id,
          liveViewUrl: session.browser_live_view_url ?? null,
          telemetryCaptured: hasTelemetry(session),
          ...(await recordSession(deps.service, target, session.session_id, FLOW_SESSION_SECONDS, signal)),
        };
      }),
    ),

    discoverLogin: guard(({ target, sessionId }) =>
      withHeartbeat(() =>
        withPasskeys({ target, sessionId }, async () => {
          const page = await deps.pages.of(target.projectId, sessionId);
          // Nobody acts on a page that a flow leads on.
          await confineNavigation(page, target, false);
          closeForeignWindows(page, target);
          const reading = await failOnRefusedAddress(page, deps.egress, () => findLoginPage(page, target, deps));
          await failOnProxyError(deps, target, sessionId, reading);
          return await observe(target, sessionId, reading);
        }),
      ),
    ),

    readPage: guard(({ target, sessionId, submitted }) =>
      withHeartbeat((signal) =>
        withPasskeys({ target, sessionId }, async () => {
          if (submitted)
            return await observe(target, sessionId, await readAfterLostWorker(deps, target, sessionId, signal));
          const page = await deps.pages.of(target.projectId, sessionId);
          closeForeignWindows(page, target);
          return await observe(target, sessionId, await readLogin(page, { chosen: target.forms, model: deps.model }));
        }),
      ),
    ),

    enterAnswer: guard((input) =>
      withHeartbeat((signal) => withPasskeys(input, () => enterAnswer(deps, passkeys, input, signal))),
    ),

    openLink: guard((input) =>
      withHeartbeat((signal) =>
        withPasskeys(input, async () =>
          observe(input.target, input.sessionId, await openMailedLink(deps, input, signal)),
        ),
      ),
    ),

    askSolver: guard((input) => withHeartbeat((signal) => askSolver(deps, input, signal))),

    takeSolution: guard((input) =>
      withHeartbeat((signal) =>
        withPasskeys(input, async () => {
          const solved = await takeSolution(deps, input, signal);
          if (solved.state !== 'answered') return { state: solved.state };
          const observation = await observe(input.target, input.sessionId, solved.reading);
          return { state: 'answered', observation };
        }),
      ),
    ),

    finishLogin: guard((input) => withHeartbeat((signal) => finishLogin(deps, passkeys, input, signal))),

    abandonLogin: guard(({ target, sessionId, keptId }) =>
      withHeartbeat(async (signal) => {
        if (keptId !== null) await deps.store.submissions.destroy(keptId);
        if (sessionId === null) return;
        await deps.pages.release(sessionId);
        await saveRecordings(deps, target, sessionId, signal);
        await deleteSession(deps.service, target.projectId, sessionId);
      }),
    ),

    checkHealth: guard(({ target, checkId }) => withHeartbeat((signal) => checkHealth(deps, target, checkId, signal))),
  };
}
