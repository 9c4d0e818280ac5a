import { isCancellation, uuid4 } from '@temporalio/workflow';
import { assertNever } from '../../contract/assert-never.ts';
import type { Observation } from '../../contract/activities.ts';
import type { FlowErrorCode } from '../../contract/connections.ts';
import { versionOf } from '../policy/credential-version.ts';
import { decide, isCodeAlone, MAX_CODE_REFUSALS, wasRejected } from '../policy/decide.ts';
import { newProgress, stepInput, type FlowContext, type FlowResult, type Progress } from './context.ts';
import { enter } from './enter.ts';
import { failureCode, failureMessage } from './failures.ts';
import { ask, waitOutside } from './pause.ts';
import { abandon, discover, guarded } from './session.ts';

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
    progress.credential = observation.credential;
    if (observation.reading.kind === 'form' || observation.reading.kind === 'choice')
      progress.loginPageUrl ??= observation.reading.url;
    const decision = decide({
      mode: context.mode,
      observation,
      ...progress,
      taken: context.takenChoices ?? [],
      fields: { now: progress.requirements.fields, earlier: context.knownFields ?? [] },
    });
    switch (decision.do) {
      case 'finish': {
        const finished = await guarded(progress, (sessionId) =>
          context.browser.finishLogin({
            ...stepInput(context, sessionId),
            keptId: progress.keptId,
            saveCredentials: context.saveCredentials,
            provider: progress.provider,
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
          requirements: progress.requirements,
          credential: progress.credential,
        };
      }
      case 'enter':
        observation = await enter(context, progress, observation, decision.answer, null, uuid4());
        continue;
      case 'ask': {
        const next = await ask(context, progress, observation, decision.question);
        if (next === null)
          return failed(
            progress,
            'awaiting_input_timeout',
            'Nobody answered within ten minutes; start a new login',
            null,
          );
        observation = next;
        continue;
      }
      case 'wait': {
        const next = await waitOutside(context, progress, observation, decision.message, decision.question);
        if (next === null)
          return failed(
            progress,
            'external_action_timeout',
            'The action that the site asked for was not taken within ten minutes; start a new login',
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

/** A refused password of the credential, and codes of its secret, are remembered under its version, whoever runs the next flow. */
function noteRefusal(observation: Observation, progress: Progress, rejected: boolean): void {
  const { last } = progress;
  // A site that lets nobody in has not looked at the password.
  if (!rejected || last === null || observation.reading.lock_out !== undefined) return;
  if (last.by === 'person') progress.rejections += 1;
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
    requirements: progress.requirements,
    credential: progress.credential,
  };
}
