import { isCancellation, sleep } from '@temporalio/workflow';
import type { Observation } from '../../contract/activities.ts';
import { pageShape } from '../policy/login-plan.ts';
import { targetNow, type FlowContext, type Progress } from './context.ts';
import { failureCodeOf } from './failures.ts';
import { discover, goOnFrom } from './session.ts';

/** Captchas that a solver is asked about in one flow: a site that shows ever new ones takes none of its answers. */
const MAX_ASKED = 3;
/** How often the solver is asked whether it is done, in milliseconds, and how many times: two minutes, for an answer is good for no longer. */
const LOOK_EVERY_MS = 3_000;
const MAX_LOOKS = 40;

/** True of a page whose captcha the solver was not asked about yet in this session. */
export function mayAskSolver({ askedSolver, sessions }: Progress, { reading }: Observation): boolean {
  return askedSolver.length < MAX_ASKED && !askedSolver.includes(placeOf(sessions, reading.url));
}

/**
 * Has the solver answer the captcha. Between two looks nothing is held. Where that fails the page is as it was, and the next
 * decision is made without a solver.
 */
export async function solve(context: FlowContext, progress: Progress, observation: Observation): Promise<Observation> {
  const { sessionId } = progress;
  if (sessionId === null) return await discover(context, progress);
  const answered = await haveAnswered(context, progress, sessionId, observation);
  if (answered !== null) return await goOnFrom(context, progress, sessionId, answered);
  return progress.sessionId === null ? await discover(context, progress) : observation;
}

/** What the page shows that was given the solver's answer; null when there is none, or the session is gone. */
export async function haveAnswered(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
  { reading }: Observation,
): Promise<Observation | null> {
  progress.askedSolver.push(placeOf(progress.sessions, reading.url));
  const on = { target: targetNow(context, progress), sessionId };
  try {
    const task = await context.browser.askSolver(on);
    for (let looks = 1; task !== null && looks <= MAX_LOOKS; looks += 1) {
      await sleep(LOOK_EVERY_MS);
      const outcome = await context.browser.takeSolution({ ...on, task, isLast: looks === MAX_LOOKS });
      if (outcome.state === 'answered') return outcome.observation;
      if (outcome.state === 'failed') return null;
    }
  } catch (error) {
    if (isCancellation(error)) throw error;
    if (failureCodeOf(error) === 'session_gone') progress.sessionId = null;
  }
  return null;
}

function placeOf(session: number, url: string): string {
  return `${String(session)} ${pageShape(url)}`;
}
