import { isCancellation, sleep, uuid4 } from '@temporalio/workflow';
import type { Observation } from '../../contract/activities.ts';
import { assertNever } from '../../contract/assert-never.ts';
import { decideCaptcha } from '../policy/decide.ts';
import { presentInteraction } from '../policy/interaction.ts';
import { pageShape } from '../policy/login-plan.ts';
import { currentTarget, type FlowContext, type Progress } from './context.ts';
import { failureCodeOf } from './failures.ts';
import { discover, resumeDiscovery, withSession } from './session.ts';
import { waitForAnswerOrPage } from './wait.ts';

/** Most captchas that a solver is given in one flow: a site that keeps showing new ones accepts none of its answers. */
const MAX_SOLVES = 3;
/** How often (in milliseconds) and how many times the solver is polled: two minutes, after which an answer is worthless. */
const SOLVER_POLL_MS = 3_000;
const MAX_SOLVER_POLLS = 40;

/** True for a page whose captcha was not given to the solver yet in this session. */
export function canAskSolver({ solverPages, sessions }: Progress, { reading }: Observation): boolean {
  return solverPages.length < MAX_SOLVES && !solverPages.includes(solverPage(sessions, reading.url));
}

/** Has the solver answer the captcha in front of the site. If that fails, the next decision is made without a solver. */
export async function solveCaptchaPage(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
): Promise<Observation> {
  const { sessionId } = progress;
  if (sessionId === null) return await discover(context, progress);
  const solved = await runSolver(context, progress, sessionId, observation);
  if (solved !== null) return await resumeDiscovery(context, progress, solved);
  return progress.sessionId === null ? await discover(context, progress) : observation;
}

/** The page after a captcha was answered, or the error message of a flow that ends because nobody answered it. */
export type CaptchaResult = { seen: Observation } | { blocked: string };

/**
 * Gets a captcha beside the fields of a form answered before the form is filled in: by itself, by the solver, or by a person
 * on the page. The values wait meanwhile: an answer is good for minutes, and a person may take longer to recall a password.
 */
export async function solveFormCaptcha(context: FlowContext, progress: Progress): Promise<CaptchaResult> {
  const seen = await withSession(progress, (sessionId) =>
    context.browser.readPage({ target: currentTarget(context, progress), sessionId, submitted: false }),
  );
  const { sessionId } = progress;
  if (seen === null || sessionId === null) return { seen: await discover(context, progress) };
  if (!hasOpenCaptcha(seen)) return { seen };
  const decideNext = (): ReturnType<typeof decideCaptcha> =>
    decideCaptcha({ mode: context.mode, observation: seen, canAskSolver: canAskSolver(progress, seen) });
  let decision = decideNext();
  if (decision.do === 'solve') {
    const solved = await runSolver(context, progress, sessionId, seen);
    if (progress.sessionId === null) return { seen: await discover(context, progress) };
    if (solved !== null && !hasOpenCaptcha(solved)) return { seen: solved };
    decision = decideNext();
  }
  switch (decision.do) {
    case 'wait':
      return await waitForPerson(context, progress, sessionId, decision.message);
    case 'fail':
      return { blocked: decision.message };
    case 'solve':
      return { blocked: 'The captcha solver did not answer the captcha; log in once by hand' };
    default:
      return assertNever(decision);
  }
}

/** True while a captcha is unanswered: one beside the fields, or the puzzle that its checkbox opened. */
function hasOpenCaptcha({ reading, unproved }: Observation): boolean {
  return unproved === true || reading.kind === 'captcha';
}

async function waitForPerson(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
  message: string,
): Promise<CaptchaResult> {
  const interactionId = uuid4();
  context.report({
    flow_step: 'AWAITING_EXTERNAL_ACTION',
    external_action_message: message,
    interaction: { ...presentInteraction(interactionId, [], []), acts_on_page: true },
  });
  const pause = { interactionId, isStillWaiting: hasOpenCaptcha };
  const end = await waitForAnswerOrPage(context, progress, sessionId, pause);
  switch (end.kind) {
    case 'answered':
      return { blocked: 'Nobody answered the captcha; start a new login' };
    case 'page_changed':
      return { seen: end.seen };
    case 'session_lost':
      return { seen: await discover(context, progress) };
    default:
      return assertNever(end);
  }
}

/** The page after the solver's answer was put into it; null if there was none, or the session is gone. */
async function runSolver(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
  { reading }: Observation,
): Promise<Observation | null> {
  progress.solverPages.push(solverPage(progress.sessions, reading.url));
  const session = { target: currentTarget(context, progress), sessionId };
  try {
    const task = await context.browser.askSolver(session);
    for (let polls = 1; task !== null && polls <= MAX_SOLVER_POLLS; polls += 1) {
      await sleep(SOLVER_POLL_MS);
      const outcome = await context.browser.takeSolution({ ...session, task, isLast: polls === MAX_SOLVER_POLLS });
      if (outcome.state === 'answered') return outcome.observation;
      if (outcome.state === 'failed') return null;
    }
  } catch (error) {
    if (isCancellation(error)) throw error;
    if (failureCodeOf(error) === 'session_gone') progress.sessionId = null;
  }
  return null;
}

function solverPage(session: number, url: string): string {
  return `${String(session)} ${pageShape(url)}`;
}
