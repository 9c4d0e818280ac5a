import { isCancellation, uuid4 } from '@temporalio/workflow';
import { assertNever } from '../../contract/assert-never.ts';
import type { Observation } from '../../contract/activities.ts';
import type { FlowErrorCode } from '../../contract/connections.ts';
import { versionOf } from '../policy/credential-version.ts';
import type { PageKind } from '../../contract/reading.ts';
import { decide } from '../policy/decide.ts';
import type { FieldMemory } from '../policy/field-refs.ts';
import { isCodeOnly, MAX_CODE_REFUSALS, wasRejected } from '../policy/last-entry.ts';
import { fieldsOf, stepFor, type PlannedStep } from '../policy/login-plan.ts';
import { canAskSolver, solveCaptchaPage } from './captcha.ts';
import { newProgress, sessionInput, type FlowContext, type FlowResult, type Progress } from './context.ts';
import { enter } from './enter.ts';
import { failureCode, failureMessage } from './failures.ts';
import { askPerson, waitForExternalAction } from './pause.ts';
import { abandon, discover, withSession } from './session.ts';

/**
 * The login state machine: read the page, decide, get the answer, enter it, read again. However it ends, also by
 * cancellation (expiry, deletion), its browser session is closed and the values it kept are saved or destroyed.
 */
export async function runFlow(context: FlowContext): Promise<FlowResult> {
  const progress = newProgress(context);
  let result: FlowResult | null = null;
  try {
    result = await runSteps(context, progress);
    return result;
  } catch (error) {
    if (isCancellation(error)) throw error;
    result = failure(progress, failureCode(error), failureMessage(error));
    return result;
  } finally {
    if (result?.status !== 'SUCCESS') await abandon(context, progress);
  }
}

async function runSteps(context: FlowContext, progress: Progress): Promise<FlowResult> {
  let observation = await discover(context, progress);
  for (;;) {
    const rejected = wasRejected(observation, progress.last);
    recordRejection(observation, progress, rejected);
    if (progress.last?.isEnrollment === true) progress.enrolled = observation.reading.enrolment !== true;
    progress.credential = observation.credential;
    if (observation.reading.kind === 'form' || observation.reading.kind === 'choice')
      progress.loginPageUrl ??= observation.reading.url;
    const fields = { now: fieldsOf(progress.steps), earlier: context.knownFields ?? [] };
    const planned = followPlan(context, progress, observation, fields);
    const isExternal = context.target.externalCredential !== undefined;
    const decision = decide({
      mode: context.mode,
      observation,
      ...progress,
      planned,
      canSave: context.saveCredentials && !isExternal,
      canSaveExternally: context.saveCredentials && isExternal,
      codeChannels: context.codeChannels ?? [],
      canAskSolver: canAskSolver(progress, observation),
      fields,
    });
    switch (decision.do) {
      case 'finish': {
        const finished = await withSession(progress, (sessionId) =>
          context.browser.finishLogin({
            ...sessionInput(context, progress, sessionId),
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
          ...flowResult(progress),
          status: 'SUCCESS',
          finished,
          refused: progress.entered > 0 ? null : progress.refused,
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
        const next = await askPerson(context, progress, observation, decision.question);
        if (next === null)
          return failure(
            progress,
            'awaiting_input_timeout',
            context.mode === 'attended'
              ? 'Nobody answered within ten minutes; start a new login'
              : 'No code came within three minutes; check that messages reach Holdfast, or log in once by hand',
          );
        observation = next;
        continue;
      }
      case 'solve':
        observation = await solveCaptchaPage(context, progress, observation);
        continue;
      case 'wait': {
        const next = await waitForExternalAction(context, progress, observation, decision.message, decision.question);
        if (next === null && observation.reading.kind === 'captcha')
          return failure(progress, 'captcha_blocked', 'Nobody solved the captcha; start a new login');
        if (next === null)
          return failure(
            progress,
            'external_action_timeout',
            context.mode === 'attended'
              ? 'The action that the site asked for was not taken within ten minutes; start a new login'
              : 'No email with the sign-in link came within three minutes; check that emails reach Holdfast, or log in once by hand',
          );
        observation = next;
        continue;
      }
      case 'fail':
        return {
          ...failure(progress, decision.code, decision.message, observation.reading.website_error),
          ...(observation.reading.evidence === undefined ? {} : { evidence: observation.reading.evidence }),
        };
      default:
        return assertNever(decision);
    }
  }
}

const PLANNED_KINDS = new Set<PageKind>(['form', 'choice', 'external_action', 'passkey']);

/** The step of a plan for the current page; null if no plan fits or a person is present, so that the page alone decides. */
function followPlan(
  { mode, plans = [] }: FlowContext,
  progress: Progress,
  { reading }: Observation,
  fields: FieldMemory,
): PlannedStep | null {
  const [first] = plans;
  // A mailed link is waited for, whatever the plan says.
  const isPlanned = PLANNED_KINDS.has(reading.kind) && reading.mailed_link !== true;
  if (mode === 'attended' || first === undefined || !isPlanned) return null;
  const planned = stepFor(plans, reading, fields);
  const { planId, departed } = progress.followed ?? { planId: first.id, departed: false };
  progress.followed = planned === null ? { planId, departed: true } : { planId: planned.planId, departed };
  return planned;
}

/** Remembers a refused password or refused codes of the credential under its version, for later flows too. */
function recordRejection(observation: Observation, progress: Progress, rejected: boolean): void {
  const { last } = progress;
  // A site that accepts no attempts has not checked the password.
  if (!rejected || last === null || observation.reading.lock_out !== undefined) return;
  if (last.by === 'person') progress.rejections += 1;
  if (observation.reading.wants_proof === true) return;
  const { credential } = observation;
  if (isCodeOnly(last)) {
    progress.codeRefusals += 1;
    if (progress.codeRefusals >= MAX_CODE_REFUSALS && credential !== null)
      progress.refusedCodes = versionOf(credential);
  }
  if (last.by === 'credential' && last.typed.password && credential !== null) progress.refused = versionOf(credential);
}

function failure(
  progress: Progress,
  errorCode: FlowErrorCode,
  errorMessage: string,
  websiteError: string | null = null,
): FlowResult {
  return { ...flowResult(progress), status: 'FAILED', errorCode, errorMessage, websiteError };
}

function flowResult(progress: Progress): Omit<FlowResult, 'status'> {
  const { loginPageUrl, refused, refusedCodes, steps, followed, credential, forms } = progress;
  return {
    errorCode: null,
    errorMessage: null,
    websiteError: null,
    finished: null,
    loginPageUrl,
    refused,
    refusedCodes,
    steps,
    followed,
    credential,
    forms,
  };
}
