import { ApplicationFailure, isCancellation } from '@temporalio/workflow';
import type { Answer, EnterOutcome, Observation, ValueSource } from '../../contract/activities.ts';
import type { SubmitInput } from '../messages.ts';
import { asksForCode, choiceFingerprint, fingerprintOf, type LastEntry, type Question } from '../policy/decide.ts';
import { stepInput, type FlowContext, type Progress } from './context.ts';
import { failureCodeOf } from './failures.ts';
import { records } from '../records.ts';
import { discover, guarded, startOver } from './session.ts';

/** Enters what a person submitted, together with what the credential knows of the same form. */
export async function enterPersonAnswer(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
  question: Question,
  input: SubmitInput,
): Promise<Observation> {
  const chosen = question.choices.find(({ id }) => id === input.selectedChoiceId)?.choice ?? null;
  const given = question.fields.filter(({ id }) => input.fieldIds.includes(id));
  const answer: Answer =
    chosen !== null && given.length === 0
      ? { entries: [], submit: question.submit, choice: chosen }
      : {
          entries: inPageOrder(observation, [
            ...question.known,
            ...given.map(({ id, field, ref }) => ({
              field,
              ref,
              source: { kind: 'submission', fieldId: id } satisfies ValueSource,
            })),
          ]),
          submit: question.submit,
          choice: chosen,
        };
  return await enter(context, progress, observation, answer, input.submissionId, input.interactionId);
}

function inPageOrder(observation: Observation, entries: Answer['entries']): Answer['entries'] {
  const position = (entry: Answer['entries'][number]): number =>
    observation.reading.fields.findIndex((field) => field.selector === entry.field.selector);
  return [...entries].sort((a, b) => position(a) - position(b));
}

/** Enters an answer, at most once, and answers what the page shows then. `entryId` names the entering in the ledger. */
export async function enter(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
  answer: Answer,
  submissionId: string | null,
  entryId: string,
): Promise<Observation> {
  const provider = answer.choice?.type === 'sso_provider' ? (answer.choice.provider ?? null) : null;
  if (provider !== null) progress.provider = { provider, at: observation.reading.url };
  context.report({
    flow_step: 'SUBMITTING',
    interaction: null,
    website_error: null,
    external_action_message: null,
    ...(provider === null ? {} : { sso_provider: provider }),
  });
  const by = submissionId === null && answer.entries.length > 0 ? 'credential' : 'person';
  const fingerprint =
    answer.entries.length > 0
      ? fingerprintOf(observation.reading.fields)
      : choiceFingerprint(observation.reading.choices);
  const method = answer.choice?.mfa_type ?? progress.last?.method;
  const last: LastEntry = {
    by,
    fingerprint,
    typed: typedKinds(answer),
    certain: true,
    ...(method === undefined ? {} : { method }),
  };
  progress.entered += 1;
  noteRequirements(progress, answer);
  const sessionId = progress.sessionId;
  if (sessionId === null) return await discover(context, progress);
  try {
    const outcome: EnterOutcome = await context.browser.enterAnswer({
      ...stepInput(context, sessionId),
      entryId,
      answer,
      submissionId,
      credentialId: observation.credential?.id ?? null,
      keptId: progress.keptId,
      keepUntil: context.expiresAt,
    });
    progress.keptId = outcome.keptId;
    progress.last = last;
    return outcome;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return await recover(context, progress, {
      last,
      entryId,
      submissionId,
      entered: answer.entries.length > 0,
      code: failureCodeOf(error),
    });
  }
}

/**
 * After an entering that failed. Typed or not, it is never typed again unseen: the page is read and decides; a session
 * that is gone starts the flow over, and what a person gave is asked for again.
 */
async function recover(
  context: FlowContext,
  progress: Progress,
  lost: { last: LastEntry; entryId: string; submissionId: string | null; entered: boolean; code: string },
): Promise<Observation> {
  if (lost.code === 'domain_not_allowed')
    throw ApplicationFailure.nonRetryable(
      'The login form sits on a site that is not allowed; add it to `allowed_domains`',
      'domain_not_allowed',
    );
  const { target, flowId } = context;
  const { connectionId } = target;
  const { entryId, submissionId } = lost;
  const { reach, keptId } = await records.abandonEntry({ connectionId, flowId, entryId, submissionId });
  if (keptId !== null) progress.keptId = keptId;
  // What was not sent to the site may still be entered, once: its worker types and presses no more.
  if (reach === 'press') progress.last = { ...lost.last, certain: false };
  if (lost.code === 'session_gone') {
    progress.sessionId = null;
    return await discover(context, progress);
  }
  const submitted = reach === 'press' && lost.entered;
  const seen = await guarded(progress, (sessionId) => context.browser.readPage({ target, sessionId, submitted }));
  if (seen === null) return await discover(context, progress);
  const { kind, website_error: complaint } = seen.reading;
  if (!submitted || kind !== 'form') return seen;
  // The site has answered after all: it refuses what was sent.
  if (complaint !== null) progress.last = lost.last;
  else if (lost.last.by === 'credential') return await startOver(context, progress);
  return seen;
}

function typedKinds(answer: Answer): LastEntry['typed'] {
  const types = answer.entries.map(({ field }) => field.type);
  return {
    password: types.includes('password'),
    code: types.some(asksForCode),
    totp: answer.entries.some(({ source }) => source.kind === 'totp'),
  };
}

function noteRequirements(progress: Progress, answer: Answer): void {
  if (answer.choice !== null) {
    const { type, label, provider, masked_destination } = answer.choice;
    const taken = { type, label, masked_destination, ...(provider === undefined ? {} : { provider }) };
    progress.requirements.choices = [...(progress.requirements.choices ?? []), taken];
  }
  for (const { field, ref, source } of answer.entries) {
    const { discovered_type, name, label, hint, channel } = field;
    // A code that the saved secret answers is the authenticator's, whatever the page calls it.
    const type = source.kind === 'totp' ? 'totp_code' : field.type;
    const known = progress.requirements.fields.find(
      (other) => other.ref === ref && (other.type === type || (asksForCode(other.type) && asksForCode(type))),
    );
    if (known !== undefined && type === 'totp_code') known.type = type;
    if (known === undefined)
      progress.requirements.fields.push({
        ref,
        step: progress.entered,
        type,
        discovered_type,
        name,
        label,
        hint,
        ...(channel === undefined ? {} : { channel }),
      });
  }
}
