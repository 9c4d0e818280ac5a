import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { Observation } from '../../contract/activities.ts';
import { nextLookDelayMs } from '../policy/intervals.ts';
import { targetNow, type FlowContext, type PersonAnswer, type Progress } from './context.ts';
import { failureCodeOf } from './failures.ts';

/** So many readings in a row that show no page mean that the site is down. */
const OUTAGES_THAT_COUNT = 4;

/** A pause that was reported, how long it may take, and what page is still the one that waits. */
export interface Watch {
  interactionId: string;
  /** For as long as a person may take, where it is undefined. */
  waitMs?: number | undefined;
  stays: (seen: Observation) => boolean;
}

/** What has ended a pause: an answer (or nobody's), the page, or the loss of its session, which the flow has none of then. */
export type First =
  | { kind: 'answered'; answer: PersonAnswer }
  | { kind: 'watched'; seen: Observation }
  | { kind: 'lost' };

/** Waits for whichever comes first: the page moves on, or the person takes another way that it offers. */
export async function whicheverFirst(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
  { interactionId, waitMs, stays }: Watch,
): Promise<First> {
  const scope = new CancellationScope();
  const answered = scope.run(() => context.awaitAnswer(interactionId, waitMs));
  const watched = scope.run(() => untilPageMovesOn(context, progress, sessionId, stays));
  const first = await Promise.race([
    answered.then((answer) => ({ kind: 'answered' as const, answer })),
    watched.then(
      (seen) => ({ kind: 'watched' as const, seen }),
      (error: unknown) => ({ kind: 'failed' as const, error }),
    ),
  ]);
  scope.cancel();
  await Promise.allSettled([answered, watched]);
  if (first.kind !== 'failed') return first;
  if (isCancellation(first.error) || failureCodeOf(first.error) !== 'session_gone') throw first.error;
  progress.sessionId = null;
  return { kind: 'lost' };
}

/** Looks at the page now and then: between two looks nothing is held, however many people have their phones in hand. */
async function untilPageMovesOn(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
  stays: Watch['stays'],
): Promise<Observation> {
  for (let looks = 0, outages = 0; ; looks += 1) {
    await sleep(nextLookDelayMs(looks));
    const seen = await context.browser.readPage({ target: targetNow(context, progress), sessionId, submitted: false });
    // A page that fails once while it looks for the answer is no end of the wait.
    outages = seen.reading.kind === 'unavailable' ? outages + 1 : 0;
    const waits = stays(seen) || (outages > 0 && outages < OUTAGES_THAT_COUNT);
    if (!waits) return seen;
  }
}
