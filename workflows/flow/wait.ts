import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { Observation } from '../../contract/activities.ts';
import { currentTarget, type FlowContext, type PersonAnswer, type Progress } from './context.ts';
import { failureCodeOf } from './failures.ts';

/** This many consecutive readings without a page mean that the site is down. */
const MAX_OUTAGES = 4;

/** A pause that was reported, how long it may take, and which page is still the waiting one. */
export interface Pause {
  interactionId: string;
  /** Undefined: as long as a person may take. */
  waitMs?: number | undefined;
  isStillWaiting: (seen: Observation) => boolean;
}

/** What ended a pause: an answer (or its timeout), a new page, or the loss of the session. */
export type PauseEnd =
  | { kind: 'answered'; answer: PersonAnswer }
  | { kind: 'page_changed'; seen: Observation }
  | { kind: 'session_lost' };

/** Waits for an answer to the pause or for the page to move on, whichever comes first. */
export async function waitForAnswerOrPage(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
  { interactionId, waitMs, isStillWaiting }: Pause,
): Promise<PauseEnd> {
  const scope = new CancellationScope();
  const answered = scope.run(() => context.awaitAnswer(interactionId, waitMs));
  const changed = scope.run(() => pollUntilPageChanges(context, progress, sessionId, isStillWaiting));
  const first = await Promise.race([
    answered.then((answer) => ({ kind: 'answered' as const, answer })),
    changed.then(
      (seen) => ({ kind: 'page_changed' as const, seen }),
      (error: unknown) => ({ kind: 'failed' as const, error }),
    ),
  ]);
  scope.cancel();
  await Promise.allSettled([answered, changed]);
  if (first.kind !== 'failed') return first;
  if (isCancellation(first.error) || failureCodeOf(first.error) !== 'session_gone') throw first.error;
  progress.sessionId = null;
  return { kind: 'session_lost' };
}

/** Polls the page. Between two readings no worker is occupied, however many people are reaching for their phones. */
async function pollUntilPageChanges(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
  isStillWaiting: Pause['isStillWaiting'],
): Promise<Observation> {
  for (let polls = 0, outages = 0; ; polls += 1) {
    await sleep(pollDelayMs(polls));
    const target = currentTarget(context, progress);
    const seen = await context.browser.readPage({ target, sessionId, submitted: false });
    // A single failed reading does not end the wait.
    outages = seen.reading.kind === 'unavailable' ? outages + 1 : 0;
    if (!isStillWaiting(seen) && (outages === 0 || outages >= MAX_OUTAGES)) return seen;
  }
}

/** Milliseconds before the next reading: prompt at first, then ever less often. */
function pollDelayMs(polls: number): number {
  return Math.min(8000, Math.round(1000 * 1.25 ** Math.max(0, polls - 10)));
}
