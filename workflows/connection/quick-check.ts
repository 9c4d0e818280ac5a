import { isCancellation, proxyLocalActivities } from '@temporalio/workflow';
import type { HealthOutcome } from '../../contract/activities.ts';
import { checkEvent, type QuickCheckActivities, type QuickCheckMiss } from '../../contract/watched-checks.ts';
import { showStatus } from './recorder.ts';
import { targetOf } from './login-target.ts';
import { nextDocument, type ConnectionState } from './state.ts';

/** Runs within the workflow task, so it is brief and tried once; otherwise the check runs on its task queue. */
const local = proxyLocalActivities<QuickCheckActivities>({
  startToCloseTimeout: '2 seconds',
  scheduleToCloseTimeout: '3 seconds',
  retry: { maximumAttempts: 1 },
});

/** A check by one request, at the cost of one workflow task: `recorded`, an outcome to record, or why it was missed. */
export async function checkQuickly(
  state: ConnectionState,
  checkId: string,
): Promise<'recorded' | HealthOutcome | QuickCheckMiss | 'skipped'> {
  if (!canCheckQuickly(state)) return 'skipped';
  const before = state.document;
  const nowIso = new Date().toISOString();
  const document = nextDocument(state, { last_auth_check_at: nowIso });
  const event = { ...checkEvent(checkId, before.status, nowIso), previous_status: before.status };
  const { credential } = state;
  state.quickRevision = document.revision;
  try {
    const found = await local.checkQuickly({ target: targetOf(state), credential, document, event });
    if (found.missed !== null) {
      state.tooSlowForQuickChecks = found.missed === 'late';
      return found.missed;
    }
    // Changes made in the meantime would be lost, so both are recorded together.
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

/** True if a check request is known and nothing is under way that the check could interfere with. */
export function canCheckQuickly(state: ConnectionState): boolean {
  const { status, revision, request_check: known, settings } = state.document;
  const isIdle = state.running === null && state.requestedFlow === null && !state.removeRequested;
  const isRecorded = !state.recording && !state.credentialStale && state.recordedRevision === revision;
  return (
    state.quickChecks === true &&
    !state.tooSlowForQuickChecks &&
    status === 'AUTHENTICATED' &&
    known !== undefined &&
    known !== null &&
    // An external secret store may be slow.
    settings.credential?.provider === undefined &&
    isIdle &&
    isRecorded &&
    state.pendingTimeline.size === 0
  );
}
