import { uuid4 } from '@temporalio/workflow';
import { assertNever } from '../../contract/assert-never.ts';
import { CODE_WAIT_MS } from '../../contract/limits.ts';
import type { Observation } from '../../contract/activities.ts';
import type { ReadField } from '../../contract/reading.ts';
import type { Question } from '../policy/situation.ts';
import { presentInteraction } from '../policy/interaction.ts';
import { externalStep } from '../policy/login-plan.ts';
import { noteStep, type FlowContext, type Progress } from './context.ts';
import { enterPersonAnswer } from './enter.ts';
import { discover, goOnFrom } from './session.ts';
import { whicheverFirst } from './watch.ts';

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
  const { kind } = observation.reading;
  const stays = ({ reading }: Observation): boolean => reading.kind === kind;
  const first = await whicheverFirst(context, progress, sessionId, { interactionId, waitMs: waitOf(context), stays });
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
      return await discover(context, progress);
    default:
      return assertNever(first);
  }
}
