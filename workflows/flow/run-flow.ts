import { ActivityFailure, ApplicationFailure, CancellationScope, isCancellation, uuid4 } from '@temporalio/workflow';
import type {
  Answer,
  EnterOutcome,
  FinishOutcome,
  LoginTarget,
  Observation,
  ValueSource,
} from '../../contract/activities.ts';
import type { FlowErrorCode } from '../../contract/connections.ts';
import type { FlowState } from '../../contract/document.ts';
import { assertNever } from '../../contract/assert-never.ts';
import type { SubmitInput } from '../messages.ts';
import {
  decide,
  fingerprintOf,
  choiceFingerprint,
  wasRejected,
  type LastEntry,
  type Question,
} from '../policy/decide.ts';
import type { RefusedCredential } from '../policy/credential-match.ts';
import { presentInteraction } from '../policy/interaction.ts';
import type { LoginRequirements } from '../policy/reauth-gate.ts';
import { browsing, closing, records, typing, watching } from './proxies.ts';

/** How often a flow opens a new session after the last one was lost. */
const MAX_SESSIONS = 4;

/** Properties of the flow that its steps change. */
export type FlowPatch = Partial<
  Pick<
    FlowState,
    | 'flow_step'
    | 'browser_session_id'
    | 'live_view_url'
    | 'interaction'
    | 'external_action_message'
    | 'sso_provider'
    | 'website_error'
  >
>;

/** A person's answer, or what came instead. */
export type PersonAnswer = { kind: 'submitted'; input: SubmitInput } | { kind: 'timeout' };

/** What a flow is given by the workflow that runs it. */
export interface FlowContext {
  mode: 'attended' | 'unattended';
  flowId: string;
  target: LoginTarget;
  expiresAt: string;
  saveCredentials: boolean;
  refused: RefusedCredential | null;
  /** Makes a step visible to callers. */
  report(patch: FlowPatch): void | Promise<void>;
  /** Attended only: waits for the answer to the interaction that was reported last. */
  awaitAnswer(question: Question, interactionId: string): Promise<PersonAnswer>;
}

/** How a flow ended, and what was learned on the way. */
export interface FlowResult {
  status: 'SUCCESS' | 'FAILED';
  errorCode: FlowErrorCode | null;
  errorMessage: string | null;
  websiteError: string | null;
  finished: FinishOutcome | null;
  /** A credential version that the site refused, new or as it was given. */
  refused: RefusedCredential | null;
  requirements: LoginRequirements;
}

/** What the loop carries from step to step. */
interface Progress {
  sessionId: string | null;
  sessions: number;
  keptId: string | null;
  last: LastEntry | null;
  entered: number;
  rejections: number;
  refused: RefusedCredential | null;
  requirements: LoginRequirements;
}

/**
 * The login step machine: read the page, decide, get the answer, enter it, read again. It ends by itself, or by
 * cancellation (expiry, deletion); either way its browser session is closed and what it kept is destroyed or saved.
 */
export async function runFlow(context: FlowContext): Promise<FlowResult> {
  const progress: Progress = {
    sessionId: null,
    sessions: 0,
    keptId: null,
    last: null,
    entered: 0,
    rejections: 0,
    refused: context.refused,
    requirements: { fields: [], externalAction: false },
  };
  let result: FlowResult | null = null;
  try {
    result = await walk(context, progress);
    return result;
  } catch (error) {
    if (isCancellation(error)) throw error;
    result = failed(progress, failureCode(error), 'The login could not go on; try again.', null);
    return result;
  } finally {
    if (result?.status !== 'SUCCESS') await abandon(context, progress);
  }
}

async function walk(context: FlowContext, progress: Progress): Promise<FlowResult> {
  let observation = await discover(context, progress);
  for (;;) {
    const rejected = wasRejected(observation, progress.last);
    noteRefusal(observation, progress, rejected);
    const decision = decide({ mode: context.mode, observation, ...progress });
    switch (decision.do) {
      case 'finish': {
        const finished = await guarded(progress, (sessionId) =>
          browsing.finishLogin({
            ...base(context, sessionId),
            keptId: progress.keptId,
            saveCredentials: context.saveCredentials,
          }),
        );
        if (finished === null) {
          observation = await discover(context, progress);
          continue;
        }
        return {
          status: 'SUCCESS',
          errorCode: null,
          errorMessage: null,
          websiteError: null,
          finished,
          refused: progress.entered > 0 ? null : progress.refused,
          requirements: progress.requirements,
        };
      }
      case 'enter':
        observation = await enter(context, progress, observation, decision.answer, null, uuid4());
        continue;
      case 'ask': {
        const next = await ask(context, progress, observation, decision.question);
        if (next === null)
          return failed(progress, 'awaiting_input_timeout', 'Nobody answered within ten minutes.', null);
        observation = next;
        continue;
      }
      case 'wait': {
        const next = await waitOutside(context, progress, observation, decision.message, decision.question);
        if (next === null)
          return failed(
            progress,
            'external_action_timeout',
            'What the site asked for was not done within ten minutes.',
            null,
          );
        observation = next;
        continue;
      }
      case 'fail':
        return failed(progress, decision.code, decision.message, observation.reading.website_error);
      default:
        return assertNever(decision);
    }
  }
}

/** Opens a session and leads it to the login page; a session that is lost on the way is replaced, a few times. */
async function discover(context: FlowContext, progress: Progress): Promise<Observation> {
  for (;;) {
    if (progress.sessions >= MAX_SESSIONS)
      throw ApplicationFailure.nonRetryable('the browser was lost too often', 'browser_error');
    progress.sessions += 1;
    // A password or code that went into a session that is lost counts as entered: its outcome is unknown here. A user
    // name alone is typed again.
    if (progress.last !== null && progress.sessions > 1)
      progress.last = hasSecret(progress.last) ? { ...progress.last, certain: false } : null;
    await context.report({
      flow_step: 'DISCOVERING',
      interaction: null,
      external_action_message: null,
      browser_session_id: null,
    });
    const session = await browsing.openSession({
      target: context.target,
      flowId: context.flowId,
      attempt: progress.sessions,
    });
    progress.sessionId = session.sessionId;
    await context.report({ browser_session_id: session.sessionId, live_view_url: session.liveViewUrl });
    const { sessionId } = session;
    const observation = await guarded(progress, () => browsing.discoverLogin({ target: context.target, sessionId }));
    if (observation !== null) return observation;
  }
}

/** Runs a step on the session; null when the session is gone, so that the caller starts over. */
async function guarded<Result>(
  progress: Progress,
  step: (sessionId: string) => Promise<Result>,
): Promise<Result | null> {
  if (progress.sessionId === null) return null;
  try {
    return await step(progress.sessionId);
  } catch (error) {
    if (isCancellation(error) || failureCodeOf(error) !== 'session_gone') throw error;
    progress.sessionId = null;
    return null;
  }
}

async function ask(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
  question: Question,
): Promise<Observation | null> {
  const interactionId = uuid4();
  await context.report({
    flow_step: 'AWAITING_INPUT',
    interaction: presentInteraction(interactionId, question.fields, question.choices),
    website_error: observation.reading.website_error,
    external_action_message: null,
  });
  const answer = await context.awaitAnswer(question, interactionId);
  if (answer.kind === 'timeout') return null;
  return await enterPersonAnswer(context, progress, observation, question, answer.input);
}

async function enterPersonAnswer(
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
            ...given.map(({ id, field }) => ({
              field,
              ref: refFor(question, id),
              source: { kind: 'submission', fieldId: id } satisfies ValueSource,
            })),
          ]),
          submit: question.submit,
          choice: chosen,
        };
  return await enter(context, progress, observation, answer, input.submissionId, input.interactionId);
}

function refFor(question: Question, id: string): string {
  const asked = question.fields.find((field) => field.id === id);
  const presented = asked === undefined ? undefined : presentInteraction('', [asked], []).fields[0];
  return presented?.ref ?? id;
}

function inPageOrder(observation: Observation, entries: Answer['entries']): Answer['entries'] {
  const position = (entry: Answer['entries'][number]): number =>
    observation.reading.fields.findIndex((field) => field.selector === entry.field.selector);
  return [...entries].sort((a, b) => position(a) - position(b));
}

async function enter(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
  answer: Answer,
  submissionId: string | null,
  entryId: string,
): Promise<Observation> {
  const provider = answer.choice?.type === 'sso_provider' ? (answer.choice.provider ?? null) : null;
  await context.report({
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
  const last: LastEntry = { by, fingerprint, typed: typedKinds(answer), certain: true };
  progress.entered += 1;
  noteRequirements(progress, answer);
  const sessionId = progress.sessionId;
  if (sessionId === null) return await discover(context, progress);
  try {
    const outcome: EnterOutcome = await typing.enterAnswer({
      ...base(context, sessionId),
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
    throw ApplicationFailure.nonRetryable('the login form sits on a site that is not allowed', 'domain_not_allowed');
  const { target, flowId } = context;
  const { connectionId } = target;
  const { entryId, submissionId } = lost;
  const reach = await records.abandonEntry({ connectionId, flowId, entryId, submissionId });
  // Nothing was typed: a stored credential may still be entered, once.
  if (reach !== 'nothing') progress.last = { ...lost.last, certain: false };
  if (lost.code === 'session_gone') {
    progress.sessionId = null;
    return await discover(context, progress);
  }
  const submitted = reach === 'press' && lost.entered;
  const seen = await guarded(progress, (sessionId) => browsing.readPage({ target, sessionId, submitted }));
  return seen ?? (await discover(context, progress));
}

function hasSecret({ typed }: LastEntry): boolean {
  return typed.password || typed.code;
}

async function waitOutside(
  context: FlowContext,
  progress: Progress,
  observation: Observation,
  message: string,
  question: Question,
): Promise<Observation | null> {
  progress.requirements.externalAction = true;
  const interactionId = uuid4();
  await context.report({
    flow_step: 'AWAITING_EXTERNAL_ACTION',
    external_action_message: message,
    website_error: observation.reading.website_error,
    interaction: presentInteraction(interactionId, question.fields, question.choices),
  });
  const sessionId = progress.sessionId;
  if (sessionId === null) return await discover(context, progress);
  // Whichever comes first: the page moves on, or the person takes another way that the page offers.
  const scope = new CancellationScope();
  const answered = context.awaitAnswer(question, interactionId);
  const watched = scope.run(() =>
    watching.watchExternalAction({ target: context.target, sessionId, waitMs: 10 * 60_000 }),
  );
  const first = await Promise.race([
    answered.then((answer) => ({ kind: 'answered' as const, answer })),
    watched.then(
      (seen) => ({ kind: 'watched' as const, seen }),
      (error: unknown) => ({ kind: 'lost' as const, error }),
    ),
  ]);
  switch (first.kind) {
    case 'answered':
      scope.cancel();
      await watched.catch(() => undefined);
      if (first.answer.kind === 'timeout') return null;
      return await enterPersonAnswer(context, progress, observation, question, first.answer.input);
    case 'watched':
      return first.seen.reading.kind === 'external_action' ? null : first.seen;
    case 'lost':
      if (isCancellation(first.error) || failureCodeOf(first.error) !== 'session_gone') throw first.error;
      progress.sessionId = null;
      return await discover(context, progress);
    default:
      return assertNever(first);
  }
}

function base(context: FlowContext, sessionId: string): { target: LoginTarget; flowId: string; sessionId: string } {
  return { target: context.target, flowId: context.flowId, sessionId };
}

function typedKinds(answer: Answer): LastEntry['typed'] {
  const types = answer.entries.map(({ field }) => field.type);
  return {
    password: types.includes('password'),
    code: types.includes('code') || types.includes('totp_code'),
    totp: answer.entries.some(({ source }) => source.kind === 'totp'),
  };
}

function noteRequirements(progress: Progress, answer: Answer): void {
  for (const { field } of answer.entries) {
    const { type, discovered_type, name, label, hint } = field;
    const known = progress.requirements.fields.some((other) => other.type === type && other.name === name);
    if (!known) progress.requirements.fields.push({ type, discovered_type, name, label, hint });
  }
}

/** A refused password of the credential is remembered under its version, whoever runs the next flow. */
function noteRefusal(observation: Observation, progress: Progress, rejected: boolean): void {
  const { last } = progress;
  if (!rejected || last === null) return;
  if (last.by === 'person') progress.rejections += 1;
  const { credential } = observation;
  if (last.by === 'credential' && last.typed.password && credential !== null)
    progress.refused = { credentialId: credential.id, version: credential.version };
}

async function abandon(context: FlowContext, progress: Progress): Promise<void> {
  if (progress.sessionId === null && progress.keptId === null) return;
  const { sessionId, keptId } = progress;
  await CancellationScope.nonCancellable(async () => {
    try {
      await closing.abandonLogin({ target: context.target, sessionId, keptId });
    } catch {
      // The browser service ends a session that nobody uses; nothing is left to be done here.
    }
  });
}

function failed(
  progress: Progress,
  errorCode: FlowErrorCode,
  errorMessage: string,
  websiteError: string | null,
): FlowResult {
  return {
    status: 'FAILED',
    errorCode,
    errorMessage,
    websiteError,
    finished: null,
    refused: progress.refused,
    requirements: progress.requirements,
  };
}

/** The type that an activity's failure carries; a time-out or a lost worker has none. */
function failureCodeOf(error: unknown): string {
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure)
    return error.cause.type ?? 'internal_error';
  if (error instanceof ActivityFailure) return 'entry_uncertain';
  if (error instanceof ApplicationFailure) return error.type ?? 'internal_error';
  return 'internal_error';
}

function failureCode(error: unknown): FlowErrorCode {
  const code = failureCodeOf(error);
  switch (code) {
    case 'domain_not_allowed':
    case 'network_error':
    case 'element_not_found':
    case 'browser_error':
      return code;
    case 'session_gone':
    case 'entry_uncertain':
      return 'browser_error';
    default:
      return 'internal_error';
  }
}
