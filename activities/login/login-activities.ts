import type { FlowSession, LoginActivities, LoginTarget, Observation } from '../../contract/activities.ts';
import { deleteSession } from '../../browser-client/sessions.ts';
import { observeCaptcha, askSolver, takeSolution } from './captcha/solve.ts';
import { credentialFactsForPage } from './credentials/attached-credential.ts';
import type { LoginDeps } from './deps.ts';
import { findLoginPage } from './find-login-page.ts';
import { enterAnswer } from './entering/enter-answer.ts';
import { guardWithHeartbeat } from '../activity.ts';
import { finishLogin } from './finish-login.ts';
import { checkHealth } from './checks/check-health.ts';
import { readAfterLostWorker } from './reading/read-after-entering.ts';
import { confineNavigation, closeForeignWindows } from './session/windows.ts';
import { goTo, readLogin } from './reading/read-login.ts';
import { saveRecordings, recordSession } from './session/record-session.ts';
import { createPasskeys } from './credentials/passkeys.ts';
import { openMailedLink } from './open-mailed-link.ts';
import { hasTelemetry, openLoginSession } from './session/open-session.ts';
import { failOnRefusedAddress, failOnProxyError, assertProxyExists } from './session/network-errors.ts';

/** Longer than the longest flow including its waits, so that the timeout ends a session only after its worker was lost. */
const FLOW_SESSION_SECONDS = 25 * 60;

/** Creates the login activities of a worker. */
export function createLoginActivities(deps: LoginDeps): LoginActivities {
  const passkeys = createPasskeys(deps);
  /** An activity on the pages of a login, during which passkey prompts are answered automatically. */
  const pageActivity = <Input extends { target: LoginTarget; sessionId: string }, Result>(
    run: (input: Input, signal: AbortSignal) => Promise<Result>,
  ): ((input: Input) => Promise<Result>) =>
    guardWithHeartbeat(async (input: Input, signal) => {
      await passkeys.prepare(input.target, input.sessionId);
      const result = await run(input, signal);
      await passkeys.saveSignCounts(input.target, input.sessionId);
      return result;
    });
  const observe = async (
    { target, sessionId }: { target: LoginTarget; sessionId: string },
    reading: Observation['reading'],
  ): Promise<Observation> => {
    const page = await deps.pages.of(target.projectId, sessionId);
    const captcha = await observeCaptcha(deps, { target, sessionId }, reading);
    await confineNavigation(page, target, reading.kind === 'captcha' || captcha.unproved === true);
    return { reading, credential: await credentialFactsForPage(deps, target, page, reading.fields), ...captcha };
  };

  return {
    openSession: guardWithHeartbeat(async ({ target, flowId, attempt }, signal): Promise<FlowSession> => {
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

    discoverLogin: pageActivity(async (input) => {
      const { target, sessionId } = input;
      const page = await deps.pages.of(target.projectId, sessionId);
      // Nobody acts on the page while it is navigated by the flow.
      await confineNavigation(page, target, false);
      closeForeignWindows(page, target);
      const reading = await failOnRefusedAddress(page, deps.egress, () => findLoginPage(page, target, deps));
      await failOnProxyError(deps, target, sessionId, reading);
      return await observe(input, reading);
    }),

    readPage: pageActivity(async (input, signal) => {
      const { target, sessionId, submitted } = input;
      if (submitted) return await observe(input, await readAfterLostWorker(deps, target, sessionId, signal));
      const page = await deps.pages.of(target.projectId, sessionId);
      closeForeignWindows(page, target);
      if (input.reopen === true) await goTo(page, page.url());
      return await observe(input, await readLogin(page, { chosen: target.forms, model: deps.model }));
    }),

    enterAnswer: pageActivity((input, signal) => enterAnswer(deps, passkeys, input, signal)),

    openLink: pageActivity(async (input, signal) => observe(input, await openMailedLink(deps, input, signal))),

    askSolver: guardWithHeartbeat((input, signal) => askSolver(deps, input, signal)),

    takeSolution: pageActivity(async (input, signal) => {
      const solved = await takeSolution(deps, input, signal);
      if (solved.state !== 'answered') return { state: solved.state };
      return { state: 'answered', observation: await observe(input, solved.reading) };
    }),

    finishLogin: guardWithHeartbeat((input, signal) => finishLogin(deps, passkeys, input, signal)),

    abandonLogin: guardWithHeartbeat(async ({ target, sessionId, keptId }, signal) => {
      if (keptId !== null) await deps.store.submissions.destroy(keptId);
      if (sessionId === null) return;
      await deps.pages.release(sessionId);
      await saveRecordings(deps, target, sessionId, signal);
      await deleteSession(deps.service, target.projectId, sessionId);
    }),

    checkHealth: guardWithHeartbeat(({ target, checkId }, signal) => checkHealth(deps, target, checkId, signal)),
  };
}
