import { CancellationScope, isCancellation, sleep, uuid4 } from '@temporalio/workflow';
import { assertNever } from '../../contract/assert-never.ts';
import type { Observation } from '../../contract/activities.ts';
import type { Question } from '../policy/decide.ts';
import { nextLookDelayMs } from '../policy/intervals.ts';
import { presentInteraction } from '../policy/interaction.ts';
import type { FlowContext, Progress } from './context.ts';
import { enterPersonAnswer } from './enter.ts';
import { failureCodeOf } from './failures.ts';
import { discover } from './session.ts';

/** So many readings in a row that show no page mean that the site is down. */
const OUTAGES_THAT_COUNT = 4;

/** Asks the person and enters the answer; null when nobody answered in time. */
export async function ask(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
  question: Question,
): Promise<Observation | null> {
  const interactionId = uuid4();
  context.report({
    flow_step: 'AWAITING_INPUT',
    interaction: presentInteraction(interactionId, question.fields, question.choices),
    website_error: observation.reading.website_error,
    external_action_message: null,
  });
  const answer = await context.awaitAnswer(interactionId);
  if (answer.kind === 'timeout') return null;
  return await enterPersonAnswer(context, progress, observation, question, answer.input);
}

/** Waits for something that a person does elsewhere; null when it was not done in time. */
export async function waitOutside(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
  message: string,
  question: Question,
): Promise<Observation | null> {
  progress.requirements.externalAction = true;
  const interactionId = uuid4();
  context.report({
    flow_step: 'AWAITING_EXTERNAL_ACTION',
    external_action_message: message,
    website_error: observation.reading.website_error,
    interaction: presentInteraction(interactionId, question.fields, question.choices),
  });
  const sessionId = progress.sessionId;
  if (sessionId === null) return await discover(context, progress);
  // Whichever comes first: the page moves on, or the person takes another way that the page offers.
  const scope = new CancellationScope();
  const answered = scope.run(() => context.awaitAnswer(interactionId));
  const watched = scope.run(() => untilPageMovesOn(context, sessionId));
  const first = await Promise.race([
    answered.then((answer) => ({ kind: 'answered' as const, answer })),
    watched.then(
      (seen) => ({ kind: 'watched' as const, seen }),
      (error: unknown) => ({ kind: 'lost' as const, error }),
    ),
  ]);
  scope.cancel();
  await Promise.allSettled([answered, watched]);
  switch (first.kind) {
    case 'answered':
      if (first.answer.kind === 'timeout') return null;
      return await enterPersonAnswer(context, progress, observation, question, first.answer.input);
    case 'watched':
      return first.seen;
    case 'lost':
      if (isCancellation(first.error) || failureCodeOf(first.error) !== 'session_gone') throw first.error;
      progress.sessionId = null;
      return await discover(context, progress);
    default:
      return assertNever(first);
  }
}

/** Looks at the page now and then: between two looks nothing is held, however many people have their phones in hand. */
async function untilPageMovesOn(context: FlowContext, sessionId: string): Promise<Observation> {
  for (let looks = 0, outages = 0; ; looks += 1) {
    await sleep(nextLookDelayMs(looks));
    const seen = await context.browser.readPage({ target: context.target, sessionId, submitted: false });
    const { kind } = seen.reading;
    // A page that fails once while it looks for the answer is no end of the wait.
    outages = kind === 'unavailable' ? outages + 1 : 0;
    const waits = kind === 'external_action' || (outages > 0 && outages < OUTAGES_THAT_COUNT);
    if (!waits) return seen;
  }
}
