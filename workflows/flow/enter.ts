import { ApplicationFailure, isCancellation } from '@temporalio/workflow';
import { MAILED_LINK } from '../../contract/answer-check.ts';
import type { Answer, EnterOutcome, Observation, ValueSource } from '../../contract/activities.ts';
import { asksForCode } from '../../contract/code-fields.ts';
import type { AnsweredBy, PlanStep, TakenChoice } from '../../contract/login-plan.ts';
import type { ReadChoice } from '../../contract/reading.ts';
import type { SubmitInput } from '../messages.ts';
import { choiceFingerprint, fingerprintOf, wasRejected, type LastEntry } from '../policy/last-entry.ts';
import { externalStep, pageShape } from '../policy/login-plan.ts';
import type { Question } from '../policy/situation.ts';
import { solveFormCaptcha, type CaptchaResult } from './captcha.ts';
import { currentTarget, recordStep, sessionInput, type FlowContext, type Progress } from './context.ts';
import { failureCodeOf } from './failures.ts';
import { records } from '../records.ts';
import { discover, showAnotherForm, startOver, withSession } from './session.ts';

/** Enters a person's submission together with the credential's values for the same form, or moves on from a wrong form. */
export async function enterPersonAnswer(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
  question: Question,
  input: SubmitInput,
): Promise<Observation> {
  if (input.wrongForm === true) return await showAnotherForm(context, progress, observation);
  if (input.fieldIds.includes(MAILED_LINK)) return await openLink(context, progress, observation, question, input);
  const answer = buildAnswer(observation, question, input);
  return await enter(context, progress, observation, answer, {
    by: 'person',
    submissionId: input.submissionId,
    entryId: input.interactionId,
  });
}

function buildAnswer(
  observation: Observation,
  { fields, choices, known, submit }: Question,
  input: SubmitInput,
): Answer {
  const choice = choices.find(({ id }) => id === input.selectedChoiceId)?.choice ?? null;
  const code = fields.find(({ field }) => asksForCode(field.type));
  if (choice?.uses === 'new_authenticator' && code !== undefined)
    return { entries: [{ field: code.field, ref: code.ref, source: { kind: 'enrolment' } }], submit, choice: null };
  const given = fields.filter(({ id }) => input.fieldIds.includes(id));
  if (choice !== null && given.length === 0) return { entries: [], submit, choice };
  const typed = given.map(({ id, field, ref }) => ({
    field,
    ref,
    source: { kind: 'submission', fieldId: id } satisfies ValueSource,
  }));
  return { entries: inPageOrder(observation, [...known, ...typed]), submit, choice };
}

/** Opens a mailed link in the session that waits for it, and returns the page it leads to. */
async function openLink(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
  question: Question,
  { submissionId, interactionId: entryId }: SubmitInput,
): Promise<Observation> {
  const { reading } = observation;
  const { sessionId } = progress;
  if (sessionId === null || submissionId === null) return await discover(context, progress);
  context.report({ flow_step: 'SUBMITTING', interaction: null, website_error: null, external_action_message: null });
  // A link that replaces a code is recorded in the plan as that code.
  const codes = question.fields.filter(({ field }) => asksForCode(field.type));
  const entries = codes.map(({ id, field, ref }) => ({
    field,
    ref,
    source: { kind: 'submission' as const, fieldId: id },
  }));
  const last: LastEntry = {
    by: 'person',
    fingerprint: fingerprintOf(reading.fields),
    typed: { password: false, code: true, totp: false },
    certain: true,
    ...(progress.last?.passkey === true ? { passkey: true } : {}),
  };
  progress.entered += 1;
  const step =
    reading.mailed_link === true
      ? externalStep(reading)
      : planStep(observation, { entries, submit: null, choice: null }, 'person');
  recordStep(progress, step, wasRejected(observation, progress.last));
  try {
    const seen = await context.browser.openLink({
      ...sessionInput(context, progress, sessionId),
      entryId,
      submissionId,
      from: reading.kind,
    });
    progress.last = last;
    return seen;
  } catch (error) {
    return await recoverEntry(context, progress, { last, entryId, submissionId, entered: false, error });
  }
}

function inPageOrder(observation: Observation, entries: Answer['entries']): Answer['entries'] {
  const position = (entry: Answer['entries'][number]): number =>
    observation.reading.fields.findIndex((field) => field.selector === entry.field.selector);
  return [...entries].sort((a, b) => position(a) - position(b));
}

/** How often one answer waits for a captcha: a site that shows a new one each time accepts none. */
const MAX_CAPTCHAS = 3;

/** Who answers, the submission that seals a person's values, and the id of the entry in the ledger. */
interface AnswerSource {
  by: AnsweredBy;
  submissionId: string | null;
  entryId: string;
}

/** Enters an answer, at most once, and returns the page that follows. */
export async function enter(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
  answer: Answer,
  source: AnswerSource,
  captchas = 0,
): Promise<Observation> {
  const { by, submissionId, entryId } = source;
  const before = { ...progress };
  const provider = answer.choice?.type === 'sso_provider' ? (answer.choice.provider ?? null) : null;
  if (provider !== null) progress.provider = { provider, at: observation.reading.url };
  const typed = typedKinds(answer);
  // Counted before the first keystroke: whatever is lost later, the count is never too low.
  if (typed.password) progress.passwords += 1;
  context.report({
    flow_step: 'SUBMITTING',
    interaction: null,
    website_error: null,
    external_action_message: null,
    passwords_typed: progress.passwords,
    ...(provider === null ? {} : { sso_provider: provider }),
  });
  const fingerprint =
    answer.entries.length > 0
      ? fingerprintOf(observation.reading.fields)
      : choiceFingerprint(observation.reading.choices);
  const method = answer.choice?.mfa_type ?? progress.last?.method;
  const last: LastEntry = {
    by,
    fingerprint,
    typed,
    certain: true,
    ...(method === undefined ? {} : { method }),
    ...(answer.choice?.uses === 'passkey' || progress.last?.passkey === true ? { passkey: true } : {}),
    ...(answer.entries.some(({ source }) => source.kind === 'enrolment') ? { isEnrollment: true } : {}),
    ...captchaCount(progress.last, captchas > 0),
  };
  progress.entered += 1;
  const isAgain = wasRejected(observation, progress.last) || observation.reading.wants_proof === true;
  recordStep(progress, planStep(observation, answer, by), isAgain);
  const sessionId = progress.sessionId;
  if (sessionId === null) return await discover(context, progress);
  try {
    const outcome: EnterOutcome = await context.browser.enterAnswer({
      ...sessionInput(context, progress, sessionId),
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
    if (failureCodeOf(error) !== 'captcha_unanswered')
      return await recoverEntry(context, progress, {
        last,
        entryId,
        submissionId,
        entered: answer.entries.length > 0,
        error,
      });
  }
  // Nothing was sent to the site, so the entry is undone.
  const { entered, passwords, steps, stepsSession } = before;
  Object.assign(progress, { entered, passwords, steps, stepsSession, provider: before.provider });
  context.report({ passwords_typed: passwords });
  const result: CaptchaResult =
    captchas < MAX_CAPTCHAS
      ? await solveFormCaptcha(context, progress)
      : { blocked: 'The site asks for a captcha repeatedly; log in once by hand' };
  if ('seen' in result && isSameForm(result.seen, observation))
    return await enter(context, progress, result.seen, relocate(answer, result.seen), source, captchas + 1);
  const { connectionId } = context.target;
  await records.abandonEntry({ connectionId, flowId: context.flowId, entryId, submissionId });
  if ('blocked' in result) throw ApplicationFailure.nonRetryable(result.blocked, 'captcha_blocked');
  return result.seen;
}

function captchaCount(before: LastEntry | null, hadCaptcha: boolean): Pick<LastEntry, 'captchas'> {
  const count = (before?.captchas ?? 0) + (hadCaptcha ? 1 : 0);
  return count === 0 ? {} : { captchas: count };
}

function isSameForm({ reading }: Observation, before: Observation): boolean {
  return reading.kind === 'form' && fingerprintOf(reading.fields) === fingerprintOf(before.reading.fields);
}

/** The same answer, with the current locations of its fields and button. */
function relocate(answer: Answer, { reading }: Observation): Answer {
  const entries = answer.entries.map((entry) => {
    const field = reading.fields.find(({ name, type }) => name === entry.field.name && type === entry.field.type);
    return field === undefined ? entry : { ...entry, field };
  });
  return { entries, submit: reading.submit ?? answer.submit, choice: answer.choice };
}

/** Handles a failed entry. Nothing is typed again blindly: the page is read, or the flow starts over. */
async function recoverEntry(
  context: FlowContext,
  progress: Progress,
  lost: { last: LastEntry; entryId: string; submissionId: string | null; entered: boolean; error: unknown },
): Promise<Observation> {
  if (isCancellation(lost.error)) throw lost.error;
  const code = failureCodeOf(lost.error);
  if (code === 'domain_not_allowed')
    throw ApplicationFailure.nonRetryable(
      'The login form is on a site that is not allowed; add it to `allowed_domains`',
      'domain_not_allowed',
    );
  const { flowId } = context;
  const target = currentTarget(context, progress);
  const { connectionId } = target;
  const { entryId, submissionId } = lost;
  const { reach, keptId } = await records.abandonEntry({ connectionId, flowId, entryId, submissionId });
  if (keptId !== null) progress.keptId = keptId;
  if (reach === 'nothing' && lost.last.typed.password) {
    progress.passwords -= 1;
    context.report({ passwords_typed: progress.passwords });
  }
  // Nothing was submitted, and the lost worker can no longer type: the answer may still be entered once.
  if (reach === 'press') progress.last = { ...lost.last, certain: false };
  if (code === 'session_gone') {
    progress.sessionId = null;
    return await discover(context, progress);
  }
  const submitted = reach === 'press' && lost.entered;
  // The worker was lost while it typed, and its lock still drops all keys that are not for its password field.
  const reopen = code === 'entry_uncertain' && reach === 'keys' && lost.last.typed.password;
  const seen = await withSession(progress, (sessionId) =>
    context.browser.readPage({ target, sessionId, submitted, reopen }),
  );
  if (seen === null) return await discover(context, progress);
  const { kind, website_error: complaint } = seen.reading;
  if (reopen && kind === 'other') return await discover(context, progress);
  if (!submitted || kind !== 'form') return seen;
  // The site did answer: it rejected what was sent.
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

/** What a plan records of an answer. */
function planStep({ reading }: Observation, { entries, choice }: Answer, by: AnsweredBy): PlanStep {
  return {
    page: pageShape(reading.url),
    fields: entries.map(({ field, ref, source }) => ({
      ref,
      // A code from the saved secret is an authenticator code, whatever the page calls it.
      type: source.kind === 'totp' || source.kind === 'enrolment' ? 'totp_code' : field.type,
      discovered_type: field.discovered_type,
      name: field.name,
      label: field.label,
      hint: field.hint,
      ...(field.channel === undefined ? {} : { channel: field.channel }),
      ...(field.captcha === undefined ? {} : { captcha: field.captcha }),
      answered_by: source.kind === 'submission' ? 'person' : 'credential',
    })),
    choice: choice === null ? null : { ...takenChoice(choice), answered_by: by },
    external: false,
    ...(reading.by_model === true ? { by_model: true } : {}),
  };
}

function takenChoice(choice: ReadChoice): TakenChoice {
  const { type, label, provider, masked_destination, agrees_to_nothing, description } = choice;
  return {
    type,
    label,
    masked_destination,
    ...(type === 'other' && description !== null ? { description } : {}),
    ...(provider === undefined ? {} : { provider }),
    ...(agrees_to_nothing === undefined ? {} : { agrees_to_nothing }),
  };
}
