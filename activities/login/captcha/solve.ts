import { setTimeout as sleep } from 'node:timers/promises';
import type { LoginTarget, Observation, SolverTask, TakeSolutionInput } from '../../../contract/activities.ts';
import type { CaptchaSolve } from '../../../contract/captcha-solves.ts';
import type { PageReading } from '../../../contract/reading.ts';
import { noteCaptchaSolve } from '../../../browser-client/sessions.ts';
import type { LoginDeps } from '../deps.ts';
import { stripQuery } from '../urls.ts';
import { readLogin } from '../reading/read-login.ts';
import { capturePictures } from './pictures.ts';
import { waitForRequestsToSettle } from '../reading/traffic.ts';
import { hasUnansweredCaptcha } from './form-captcha.ts';
import { answerWidget, findPageWidget } from './page-widget.ts';

type SolveDeps = Pick<LoginDeps, 'pages' | 'service' | 'captchas' | 'model'>;
type SessionRef = Pick<TakeSolutionInput, 'target' | 'sessionId'>;

/** How long a page may take to continue once its captcha has an answer, in milliseconds. */
const ACCEPT_TIMEOUT_MS = 8_000;
const POLL_INTERVAL_MS = 500;

/** What captchas a page shows: unanswered ones beside a form, one that a solver could solve, and pictures of characters. */
export async function observeCaptcha(
  { pages, captchas }: Pick<SolveDeps, 'pages' | 'captchas'>,
  { target, sessionId }: SessionRef,
  reading: PageReading,
): Promise<Pick<Observation, 'unproved' | 'solvable' | 'pictures'>> {
  if (reading.kind !== 'captcha' && reading.kind !== 'form') return {};
  const page = await pages.of(target.projectId, sessionId);
  const unproved = await hasUnansweredCaptcha(page, reading);
  const isBlocked = reading.kind === 'captcha' || unproved;
  const isSolvable = isBlocked && captchas !== undefined && (await findPageWidget(page, target)) !== null;
  return {
    ...(unproved ? { unproved } : {}),
    ...(isSolvable ? { solvable: true } : {}),
    ...(await capturePictures(page, reading)),
  };
}

/** Creates a solver task for the page's widget. The solver gets its type, site key, and the URL without the query. Null if refused. */
export async function askSolver(deps: SolveDeps, session: SessionRef, signal: AbortSignal): Promise<SolverTask | null> {
  const page = await deps.pages.of(session.target.projectId, session.sessionId);
  const found = await findPageWidget(page, session.target);
  if (deps.captchas === undefined || found === null) return null;
  const url = stripQuery(page.url());
  const created = await deps.captchas.createTask(found.widget, url, signal);
  if ('error' in created) return null;
  const { taskId } = created;
  const { host: website_host, pathname: website_path } = new URL(url);
  const site = { captcha_type: found.widget.type, website_host, website_path };
  await recordSolve(deps, session, { state: 'started', task_id: String(taskId), ...site });
  return { id: taskId };
}

/** The state of a solver task, or the reading of the page that was given its answer. */
export type Solved = { state: 'waiting' | 'failed' } | { state: 'answered'; reading: PageReading };

/** Polls a solver task once. Its answer is given to the page, which is read again; the result never contains the answer. */
export async function takeSolution(
  deps: SolveDeps,
  { target, sessionId, task, isLast }: TakeSolutionInput,
  signal: AbortSignal,
): Promise<Solved> {
  const session = { target, sessionId };
  const ended = { state: 'ended' as const, task_id: String(task.id) };
  const page = await deps.pages.of(target.projectId, sessionId);
  const result = (await deps.captchas?.getResult(task.id, signal)) ?? { state: 'failed' as const, error: 'no_solver' };
  if (result.state === 'processing' && !isLast) return { state: 'waiting' };
  if (result.state !== 'ready') {
    const reason =
      result.state === 'failed'
        ? { status: 'failure' as const, error_code: result.error }
        : { status: 'timeout' as const };
    await recordSolve(deps, session, { ...ended, ...reason });
    return { state: 'failed' };
  }
  await recordSolve(deps, session, { ...ended, status: 'success' });
  const found = await findPageWidget(page, target);
  const answer = async (): Promise<void> => {
    if (found !== null) await answerWidget(found, result.token);
  };
  await waitForRequestsToSettle(page, answer, signal);
  return { state: 'answered', reading: await readOnceAccepted(deps, target, sessionId, signal) };
}

async function readOnceAccepted(
  { pages, model }: SolveDeps,
  target: LoginTarget,
  sessionId: string,
  signal: AbortSignal,
): Promise<PageReading> {
  for (const end = Date.now() + ACCEPT_TIMEOUT_MS; ;) {
    const page = await pages.of(target.projectId, sessionId);
    const reading = await readLogin(page, { chosen: target.forms, model });
    if (reading.kind !== 'captcha' || Date.now() >= end || signal.aborted) return reading;
    await sleep(POLL_INTERVAL_MS);
  }
}

/** Records a solve for telemetry. Errors are ignored: other browser services may not support it. */
async function recordSolve(
  { service }: SolveDeps,
  { target, sessionId }: SessionRef,
  solve: CaptchaSolve,
): Promise<void> {
  await noteCaptchaSolve(service, { projectId: target.projectId, sessionId }, solve).catch(() => undefined);
}
