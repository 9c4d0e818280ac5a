import { CancellationScope, isCancellation, sleep, uuid4 } from '@temporalio/workflow';
import { assertNever } from '../../contract/assert-never.ts';
import { CODE_WAIT_MS } from '../../contract/limits.ts';
import type { Observation } from '../../contract/activities.ts';
import type { PageReading, ReadField } from '../../contract/reading.ts';
import type { Question } from '../policy/situation.ts';
import { nextLookDelayMs } from '../policy/intervals.ts';
import { presentInteraction } from '../policy/interaction.ts';
import { externalStep } from '../policy/login-plan.ts';
import { noteStep, targetNow, type FlowContext, type Progress } from './context.ts';
import { enterPersonAnswer } from './enter.ts';
import { failureCodeOf } from './failures.ts';
import { discover, guarded } from './session.ts';

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
  const { formNotice } = progress;
  progress.formNotice = undefined;
  context.report({
    flow_step: 'AWAITING_INPUT',
    interaction: {
      ...presentInteraction(interactionId, question.fields, question.choices),
      ...(formNotice === undefined ? {} : { form_notice: formNotice }),
      ...(question.fields.some(({ field }) => mayBeLink(field)) ? { takes_link: true as const } : {}),
    },
    website_error: observation.reading.website_error,
    external_action_message: null,
  });
  const answer = await context.awaitAnswer(interactionId, waitOf(context));
  if (answer.kind === 'timeout') return null;
  return await enterPersonAnswer(context, progress, observation, question, answer.input);
}

/** With nobody there it is a code or a link that is waited for, which comes soon or not at all. */
function waitOf({ mode }: FlowContext): number | undefined {
  return mode === 'unattended' ? CODE_WAIT_MS : undefined;
}

/** True of a code that a site may have put into a link: one that it mails, or does not say how it sends. */
function mayBeLink({ type, channel = 'unknown' }: ReadField): boolean {
  return type === 'code' && (channel === 'email' || channel === 'unknown');
}

/** Waits for something that a person does elsewhere; null when it was not done in time. */
export async function waitOutside(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
  message: string,
  question: Question,
): Promise<Observation | null> {
  const interactionId = uuid4();
  const isOnPage = observation.reading.kind === 'captcha';
  context.report({
    flow_step: 'AWAITING_EXTERNAL_ACTION',
    external_action_message: message,
    website_error: observation.reading.website_error,
    interaction: {
      ...presentInteraction(interactionId, question.fields, question.choices),
      ...(isOnPage ? { acts_on_page: true as const } : {}),
      ...(observation.reading.mailed_link === true ? { takes_link: true as const } : {}),
    },
  });
  const sessionId = progress.sessionId;
  if (sessionId === null) return await discover(context, progress);
  // Whichever comes first: the page moves on, or the person takes another way that the page offers.
  const scope = new CancellationScope();
  const answered = scope.run(() => context.awaitAnswer(interactionId, waitOf(context)));
  const watched = scope.run(() => untilPageMovesOn(context, progress, sessionId, observation.reading.kind));
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
      // A puzzle comes and goes: the next login may have none.
      if (isOnPage) return await goOnFrom(context, progress, sessionId, first.seen);
      noteStep(progress, externalStep(observation.reading), false);
      return first.seen;
    case 'lost':
      if (isCancellation(first.error) || failureCodeOf(first.error) !== 'session_gone') throw first.error;
      progress.sessionId = null;
      return await discover(context, progress);
    default:
      return assertNever(first);
  }
}

/** A puzzle in front of the site may lead to its home page: the login is looked for from there. */
export async function goOnFrom(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
  seen: Observation,
): Promise<Observation> {
  if (seen.reading.kind !== 'other' || progress.entered > 0) return seen;
  const found = await guarded(progress, () =>
    context.browser.discoverLogin({ target: targetNow(context, progress), sessionId }),
  );
  return found ?? (await discover(context, progress));
}

/** Looks at the page now and then: between two looks nothing is held, however many people have their phones in hand. */
async function untilPageMovesOn(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
  from: PageReading['kind'],
): Promise<Observation> {
  for (let looks = 0, outages = 0; ; looks += 1) {
    await sleep(nextLookDelayMs(looks));
    const seen = await context.browser.readPage({ target: targetNow(context, progress), sessionId, submitted: false });
    const { kind } = seen.reading;
    // A page that fails once while it looks for the answer is no end of the wait.
    outages = kind === 'unavailable' ? outages + 1 : 0;
    const waits = kind === from || (outages > 0 && outages < OUTAGES_THAT_COUNT);
    if (!waits) return seen;
  }
}
