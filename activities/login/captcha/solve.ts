import { setTimeout as sleep } from 'node:timers/promises';
import type { LoginTarget, Observation, SolverTask, TakeSolutionInput } from '../../../contract/activities.ts';
import type { CaptchaSolve } from '../../../contract/captcha-solves.ts';
import type { PageReading } from '../../../contract/reading.ts';
import { noteCaptchaSolve } from '../../../browser-client/captcha-solves.ts';
import type { LoginDeps } from '../deps.ts';
import { stripQuery } from '../urls.ts';
import { readLogin } from '../reading/read-login.ts';
import { waitForRequestsToSettle } from '../reading/traffic.ts';
import { hasUnansweredCaptcha } from './form-captcha.ts';
import { answerWidget, findPageWidget } from './page-widget.ts';

type SolveDeps = Pick<LoginDeps, 'pages' | 'service' | 'captchas' | 'model'>;
type SessionRef = Pick<TakeSolutionInput, 'target' | 'sessionId'>;

/** How long a site may take to let a page go on that has its answer, in milliseconds. */
const ACCEPTED_WITHIN_MS = 8_000;
const LOOK_EVERY_MS = 500;

/** What a reading says beside of captchas: whether one beside the fields has no answer, and whether a solver may be asked about what stands in the way. */
export async function observeCaptcha(
  { pages, captchas }: Pick<SolveDeps, 'pages' | 'captchas'>,
  { target, sessionId }: SessionRef,
  reading: PageReading,
): Promise<Pick<Observation, 'unproved' | 'solvable'>> {
  if (reading.kind !== 'captcha' && reading.kind !== 'form') return {};
  const page = await pages.of(target.projectId, sessionId);
  const unproved = await hasUnansweredCaptcha(page, reading);
  const isInTheWay = reading.kind === 'captcha' || unproved;
  const isSolvable = isInTheWay && captchas !== undefined && (await findPageWidget(page, target)) !== null;
  return { ...(unproved ? { unproved } : {}), ...(isSolvable ? { solvable: true } : {}) };
}

/**
 * Has the solver begin with the widget of the page. It learns the kind, the site's key and the page's address, of which what could be
 * a secret is left out. Null where it does not take it.
 */
export async function askSolver(deps: SolveDeps, on: SessionRef, signal: AbortSignal): Promise<SolverTask | null> {
  const page = await deps.pages.of(on.target.projectId, on.sessionId);
  const seen = await findPageWidget(page, on.target);
  if (deps.captchas === undefined || seen === null) return null;
  const address = stripQuery(page.url());
  const { host, pathname } = new URL(address);
  const begun = await deps.captchas.begin(seen.widget, address, signal);
  if ('error' in begun) return null;
  const { taskId } = begun;
  const about = { captcha_type: seen.widget.type, website_host: host, website_path: pathname };
  await tell(deps, on, { state: 'started', task_id: String(taskId), ...about });
  return { id: taskId };
}

/** How far a solver is, or what the page shows that was given its answer. */
export type Solved = { state: 'waiting' | 'failed' } | { state: 'answered'; reading: PageReading };

/**
 * Looks once whether the solver is done. What it has found goes to the page, which is read again: the answer is in no result of
 * this and in no message.
 */
export async function takeSolution(
  deps: SolveDeps,
  { target, sessionId, task, isLast }: TakeSolutionInput,
  signal: AbortSignal,
): Promise<Solved> {
  const on = { target, sessionId };
  const name = { state: 'ended' as const, task_id: String(task.id) };
  const page = await deps.pages.of(target.projectId, sessionId);
  const looked = (await deps.captchas?.look(task.id, signal)) ?? { state: 'failed' as const, error: 'no_solver' };
  if (looked.state === 'processing' && !isLast) return { state: 'waiting' };
  if (looked.state !== 'ready') {
    const why =
      looked.state === 'failed'
        ? { status: 'failure' as const, error_code: looked.error }
        : { status: 'timeout' as const };
    await tell(deps, on, { ...name, ...why });
    return { state: 'failed' };
  }
  await tell(deps, on, { ...name, status: 'success' });
  const seen = await findPageWidget(page, target);
  const give = async (): Promise<void> => {
    if (seen !== null) await answerWidget(seen, looked.token);
  };
  await waitForRequestsToSettle(page, give, signal);
  return { state: 'answered', reading: await readOnceAccepted(deps, target, sessionId, signal) };
}

/** Reads the page when the captcha has gone from it, or when it stays. */
async function readOnceAccepted(
  { pages, model }: SolveDeps,
  target: LoginTarget,
  sessionId: string,
  signal: AbortSignal,
): Promise<PageReading> {
  for (const end = Date.now() + ACCEPTED_WITHIN_MS; ;) {
    const page = await pages.of(target.projectId, sessionId);
    const reading = await readLogin(page, { chosen: target.forms, model });
    if (reading.kind !== 'captcha' || Date.now() >= end || signal.aborted) return reading;
    await sleep(LOOK_EVERY_MS);
  }
}

/** Telemetry is no reason to give a login up: a browser service elsewhere may not know of it. */
async function tell({ service }: SolveDeps, { target, sessionId }: SessionRef, said: CaptchaSolve): Promise<void> {
  await noteCaptchaSolve(service, { projectId: target.projectId, sessionId }, said).catch(() => undefined);
}
