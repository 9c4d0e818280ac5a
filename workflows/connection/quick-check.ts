import { isCancellation, proxyLocalActivities } from '@temporalio/workflow';
import type { HealthOutcome } from '../../contract/activities.ts';
import { checkEvent, type QuickCheckActivities, type QuickCheckMiss } from '../../contract/watched-checks.ts';
import { showStatus } from './recorder.ts';
import { targetOf } from './login-target.ts';
import { documentAfter, type ConnectionState } from './state.ts';

/** It holds the workflow's task, so it is brief, and tried once: what it has not done by then is done in a queue. */
const local = proxyLocalActivities<QuickCheckActivities>({
  startToCloseTimeout: '2 seconds',
  scheduleToCloseTimeout: '3 seconds',
  retry: { maximumAttempts: 1 },
});

/**
 * The usual check of a session that is as it was: one request to the site, and the row, in one local activity, so that it
 * costs a timer and one task of the workflow. `recorded` when that was all; an outcome that is yet to be recorded; or why
 * the check is to be made in its queue.
 */
export async function checkQuickly(
  state: ConnectionState,
  checkId: string,
): Promise<'recorded' | HealthOutcome | QuickCheckMiss | 'not asked'> {
  if (!mayAskQuickly(state)) return 'not asked';
  const before = state.document;
  const nowIso = new Date().toISOString();
  const document = documentAfter(state, { last_auth_check_at: nowIso });
  const event = { ...checkEvent(checkId, before.status, nowIso), previous_status: before.status };
  const { credential } = state;
  state.quickRevision = document.revision;
  try {
    const found = await local.checkQuickly({ target: targetOf(state), credential, document, event });
    if (found.missed !== null) {
      state.tooSlowToAskQuickly = found.missed === 'late';
      return found.missed;
    }
    // What has changed meanwhile would be lost: both are recorded together.
    if (!found.recorded || state.document !== before || state.credential !== credential)
      return { outcome: 'authenticated', errorCode: null, check: found.check, credential: found.credential };
    state.document = document;
    state.recordedRevision = document.revision;
    showStatus(state);
    return 'recorded';
  } catch (error) {
    if (isCancellation(error)) throw error;
    return 'late';
  }
}

/** True where a request is known that tells, and nothing is under way that the check could come between. */
export function mayAskQuickly(state: ConnectionState): boolean {
  const { status, revision, request_check: known, settings } = state.document;
  const isIdle = state.running === null && state.requestedFlow === null && !state.removeRequested;
  const isRecorded = !state.recording && !state.credentialStale && state.recordedRevision === revision;
  return (
    state.quickChecks === true &&
    !state.tooSlowToAskQuickly &&
    status === 'AUTHENTICATED' &&
    known !== undefined &&
    known !== null &&
    // A secret store elsewhere takes its time.
    settings.credential?.provider === undefined &&
    isIdle &&
    isRecorded &&
    state.pendingTimeline.size === 0
  );
}
