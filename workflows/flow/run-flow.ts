import { isCancellation, uuid4 } from '@temporalio/workflow';
import { assertNever } from '../../contract/assert-never.ts';
import type { Observation } from '../../contract/activities.ts';
import type { FlowErrorCode } from '../../contract/connections.ts';
import { versionOf } from '../policy/credential-version.ts';
import type { PageKind } from '../../contract/reading.ts';
import { decide } from '../policy/decide.ts';
import type { FieldMemory } from '../policy/field-refs.ts';
import { isCodeAlone, MAX_CODE_REFUSALS, wasRejected } from '../policy/last-entry.ts';
import { fieldsOf, stepFor, type PlannedStep } from '../policy/login-plan.ts';
import { newProgress, stepInput, type FlowContext, type FlowResult, type Progress } from './context.ts';
import { enter } from './enter.ts';
import { failureCode, failureMessage } from './failures.ts';
import { ask, waitOutside } from './pause.ts';
import { abandon, discover, guarded } from './session.ts';
import { mayAskSolver, solve } from './solve.ts';

/**
 * The login step machine: read the page, decide, get the answer, enter it, read again. It ends by itself, or by
 * cancellation (expiry, deletion); either way its browser session is closed and what it kept is destroyed or saved.
 */
export async function runFlow(context: FlowContext): Promise<FlowResult> {
  const progress = newProgress(context);
  let result: FlowResult | null = null;
  try {
    result = await walk(context, progress);
    return result;
  } catch (error) {
    if (isCancellation(error)) throw error;
    result = failed(progress, failureCode(error), failureMessage(error), null);
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
    if (progress.last?.enrols === true) progress.enrolled = observation.reading.enrolment !== true;
    progress.credential = observation.credential;
    if (observation.reading.kind === 'form' || observation.reading.kind === 'choice')
      progress.loginPageUrl ??= observation.reading.url;
    const fields = { now: fieldsOf(progress.steps), earlier: context.knownFields ?? [] };
    const planned = followPlan(context, progress, observation, fields);
    const isExternal = context.target.externalCredential !== undefined;
    const mayKeep = context.saveCredentials && !isExternal;
    const mayWrite = context.saveCredentials && isExternal;
    const codeChannels = context.codeChannels ?? [];
    const decision = decide({
      mode: context.mode,
      observation,
      ...progress,
      planned,
      mayKeep,
      mayWrite,
      codeChannels,
      mayAskSolver: mayAskSolver(progress, observation),
      fields,
    });
    switch (decision.do) {
      case 'finish': {
        const finished = await guarded(progress, (sessionId) =>
          context.browser.finishLogin({
            ...stepInput(context, progress, sessionId),
            keptId: progress.keptId,
            saveCredentials: context.saveCredentials,
            provider: progress.provider,
            keepsAuthenticator: progress.enrolled !== false,
            wasLoggedIn: progress.steps.length === 0,
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
          loginPageUrl: progress.loginPageUrl,
          refused: progress.entered > 0 ? null : progress.refused,
          refusedCodes: progress.refusedCodes,
          steps: progress.steps,
          followed: progress.followed,
          credential: progress.credential,
          forms: progress.forms,
        };
      }
      case 'enter':
        observation = await enter(context, progress, observation, decision.answer, {
          by: 'credential',
          submissionId: null,
          entryId: uuid4(),
        });
        continue;
      case 'ask': {
        const next = await ask(context, progress, observation, decision.question);
        if (next === null)
          return failed(
            progress,
            'awaiting_input_timeout',
            context.mode === 'attended'
              ? 'Nobody answered within ten minutes; start a new login'
              : 'No code came within three minutes; see that messages reach Holdfast, or log in once by hand',
            null,
          );
        observation = next;
        continue;
      }
      case 'solve':
        observation = await solve(context, progress, observation);
        continue;
      case 'wait': {
        const next = await waitOutside(context, progress, observation, decision.message, decision.question);
        if (next === null && observation.reading.kind === 'captcha')
          return failed(progress, 'captcha_blocked', 'Nobody solved the captcha; start a new login', null);
        if (next === null)
          return failed(
            progress,
            'external_action_timeout',
            context.mode === 'attended'
              ? 'The action that the site asked for was not taken within ten minutes; start a new login'
              : 'No mail with the sign-in link came within three minutes; see that mails reach Holdfast, or log in once by hand',
            null,
          );
        observation = next;
        continue;
      }
      case 'fail':
        return {
          ...failed(progress, decision.code, decision.message, observation.reading.website_error),
          ...(observation.reading.evidence === undefined ? {} : { evidence: observation.reading.evidence }),
        };
      default:
        return assertNever(decision);
    }
  }
}

const ASKS = new Set<PageKind>(['form', 'choice', 'external_action', 'passkey']);

/**
 * The step of a plan that a REAUTH takes on the page in front, and which plan that is; null where no plan fits, so that
 * the page alone decides. With a person there, the page alone always does.
 */
function followPlan(
  { mode, plans = [] }: FlowContext,
  progress: Progress,
  { reading }: Observation,
  fields: FieldMemory,
): PlannedStep | null {
  const [first] = plans;
  // A mailed link is waited for, whatever the plan has.
  const isAsked = ASKS.has(reading.kind) && reading.mailed_link !== true;
  if (mode === 'attended' || first === undefined || !isAsked) return null;
  const planned = stepFor(plans, reading, fields);
  const { planId, departed } = progress.followed ?? { planId: first.id, departed: false };
  progress.followed = planned === null ? { planId, departed: true } : { planId: planned.planId, departed };
  return planned;
}

/** A refused password of the credential, and codes of its secret, are remembered under its version, whoever runs the next flow. */
function noteRefusal(observation: Observation, progress: Progress, rejected: boolean): void {
  const { last } = progress;
  // A site that lets nobody in has not looked at the password.
  if (!rejected || last === null || observation.reading.lock_out !== undefined) return;
  if (last.by === 'person') progress.rejections += 1;
  if (observation.reading.wants_proof === true) return;
  const { credential } = observation;
  if (isCodeAlone(last)) {
    progress.codeRefusals += 1;
    if (progress.codeRefusals >= MAX_CODE_REFUSALS && credential !== null)
      progress.refusedCodes = versionOf(credential);
  }
  if (last.by === 'credential' && last.typed.password && credential !== null) progress.refused = versionOf(credential);
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
    loginPageUrl: progress.loginPageUrl,
    refused: progress.refused,
    refusedCodes: progress.refusedCodes,
    steps: progress.steps,
    followed: progress.followed,
    credential: progress.credential,
    forms: progress.forms,
  };
}
