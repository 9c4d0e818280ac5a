import { uuid4 } from '@temporalio/workflow';
import { assertNever } from '../../contract/assert-never.ts';
import { CODE_WAIT_MS } from '../../contract/limits.ts';
import type { Observation } from '../../contract/activities.ts';
import type { Interaction } from '../../contract/interaction.ts';
import type { ReadField } from '../../contract/reading.ts';
import type { Question } from '../policy/situation.ts';
import { presentInteraction } from '../policy/interaction.ts';
import { externalStep } from '../policy/login-plan.ts';
import { recordStep, type FlowContext, type Progress } from './context.ts';
import { enterPersonAnswer } from './enter.ts';
import { discover, resumeDiscovery } from './session.ts';
import { waitForAnswerOrPage } from './wait.ts';

/** Asks the person and enters the answer; null if nobody answered in time. */
export async function askPerson(
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
      ...(question.fields.some(({ field }) => mayComeAsLink(field)) ? { takes_link: true as const } : {}),
      ...picturesOf(question, observation),
    },
    website_error: observation.reading.website_error,
    external_action_message: null,
  });
  const answer = await context.awaitAnswer(interactionId, maxWaitMs(context));
  if (answer.kind === 'timeout') return null;
  return await enterPersonAnswer(context, progress, observation, question, answer.input);
}

/** The pictures of the fields that are asked for, by field id. */
function picturesOf({ fields }: Question, { pictures = {} }: Observation): Pick<Interaction, 'pictures'> {
  const shown = fields.flatMap(({ id, field }) => {
    const picture = pictures[field.name];
    return picture === undefined ? [] : [[id, picture] as const];
  });
  return shown.length === 0 ? {} : { pictures: Object.fromEntries(shown) };
}

/** An unattended flow waits for a code or a link, which arrives soon or not at all. */
function maxWaitMs({ mode }: FlowContext): number | undefined {
  return mode === 'unattended' ? CODE_WAIT_MS : undefined;
}

/** True for a code that a site may send as a link: one sent by email, or in an unknown way. */
function mayComeAsLink({ type, channel = 'unknown' }: ReadField): boolean {
  return type === 'code' && (channel === 'email' || channel === 'unknown');
}

/** Waits for an action outside the page's form; null if it was not taken in time. */
export async function waitForExternalAction(
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
  const isStillWaiting = ({ reading }: Observation): boolean => reading.kind === kind;
  const pause = { interactionId, waitMs: maxWaitMs(context), isStillWaiting };
  const end = await waitForAnswerOrPage(context, progress, sessionId, pause);
  switch (end.kind) {
    case 'answered':
      if (end.answer.kind === 'timeout') return null;
      return await enterPersonAnswer(context, progress, observation, question, end.answer.input);
    case 'page_changed':
      // A captcha is not part of the plan: the next login may have none.
      if (isOnPage) return await resumeDiscovery(context, progress, end.seen);
      recordStep(progress, externalStep(observation.reading), false);
      return end.seen;
    case 'session_lost':
      return await discover(context, progress);
    default:
      return assertNever(end);
  }
}
