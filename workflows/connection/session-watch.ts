import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  log,
  proxyActivities,
  TimeoutFailure,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { HealthOutcome } from '../../contract/activities.ts';
import {
  type QuickCheckActivities,
  type QuickCheckMiss,
  STILL_SIGNED_IN,
  type WatchEnd,
  type WatchInput,
} from '../../contract/watched-checks.ts';
import { checkNumberAt, nextCheckAtMs } from '../../contract/check-times.ts';
import { failureCodeOf } from '../flow/failures.ts';
import { browserQueue } from '../messages.ts';
import { records } from '../records.ts';
import { canCheckQuickly } from './quick-check.ts';
import { targetOf } from './login-target.ts';
import { watchedRevision, type ConnectionState } from './state.ts';

/** What a watch found but could not record itself, and the check id to record it under. */
export interface Watched {
  found: HealthOutcome | QuickCheckMiss | 'skipped';
  checkId: string | null;
}

/** A watch is restarted after this time, so that none runs forever on outdated input. */
const MAX_WATCH_DURATION = '30 days';

/** True if the next checks may run without the workflow: at known times, on an unchanged session. */
export function canWatch(state: ConnectionState): boolean {
  return state.watches === true && state.checking === null && hasSlot(state) && canCheckQuickly(state);
}

/** True if the connection has a slot in the check schedule for its interval. */
export function hasSlot({ checkSlot, document: { settings } }: ConnectionState): boolean {
  return checkSlot?.intervalSeconds === settings.health_check_interval;
}

/**
 * Runs the check that is due, and those that follow it, in one activity that is retried whenever the next is due, so that
 * they add nothing to the history. `interrupted` when something they depend on has changed, or the watch reached its
 * maximum duration; the state then holds the time of the next check. Nothing is recorded while it runs.
 */
export async function watchSession(state: ConnectionState): Promise<Watched | 'interrupted'> {
  const place = state.checkSlot;
  if (place === null || place === undefined) return { found: 'skipped', checkId: null };
  const { document: before, timerEpoch: epoch } = state;
  const firstNumber = checkNumberAt(Date.now(), place);
  const revision = Math.max(before.revision, state.quickRevision);
  state.watch = { place, firstNumber, revision };
  const end = await runWatch(state, {
    target: targetOf(state),
    credential: state.credential,
    document: { ...before, revision },
    place,
    firstNumber,
    watchId: uuid4(),
  });
  await syncWithRow(state, before);
  state.watch = null;
  if (end === 'interrupted') {
    const last = state.document.last_auth_check_at;
    // Whatever reset the schedule has set the next time itself.
    if (state.timerEpoch === epoch)
      state.nextCheckAt = nextCheckAtMs(last === null ? Date.now() : Date.parse(last), place);
    return 'interrupted';
  }
  state.tooSlowForQuickChecks = end.missed === 'late';
  if (end.missed === null) {
    const { check, credential, checkId } = end;
    return { found: { outcome: 'authenticated', errorCode: null, check, credential }, checkId };
  }
  return { found: end.missed === 'overtaken' ? 'skipped' : end.missed, checkId: null };
}

/** Runs the watch until it ends or its input changes. When this resolves it is over for the server too. */
async function runWatch(state: ConnectionState, input: WatchInput): Promise<WatchEnd | 'interrupted'> {
  const { document, credential, timerEpoch } = state;
  const hasInputChanged = (): boolean =>
    state.document !== document ||
    state.credential !== credential ||
    state.credentialStale ||
    state.timerEpoch !== timerEpoch ||
    state.checking !== null ||
    state.requestedFlow !== null ||
    state.running !== null ||
    state.removeRequested;
  const scope = new CancellationScope();
  try {
    const watching = scope.run(() => watchActivities(document.organization_id).watchSession(input));
    scope
      .run(() => condition(hasInputChanged))
      .then(
        () => scope.cancel(),
        () => undefined,
      );
    return await watching;
  } catch (error) {
    if (CancellationScope.current().consideredCancelled) throw error;
    if (isCancellation(error) || endedNormally(error)) return 'interrupted';
    log.warn('session watch failed', { code: failureCodeOf(error) });
    return { missed: 'overtaken' };
  } finally {
    scope.cancel();
  }
}

/** True if a watch ended because it was canceled during an attempt or reached its maximum duration. */
function endedNormally(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  const { cause } = error;
  return cause instanceof TimeoutFailure || (cause instanceof ApplicationFailure && cause.type === STILL_SIGNED_IN);
}

/** Its attempts run before the checks in a browser, which take a hundred times as long, and delay no login. */
function watchActivities(organizationId: string): Pick<QuickCheckActivities, 'watchSession'> {
  return proxyActivities<Pick<QuickCheckActivities, 'watchSession'>>({
    taskQueue: browserQueue(workflowInfo().taskQueue, 'checks'),
    priority: { priorityKey: 2, fairnessKey: organizationId },
    startToCloseTimeout: '10 seconds',
    scheduleToCloseTimeout: MAX_WATCH_DURATION,
    // An attempt that finds the session unchanged sets the next retry itself: these apply when its worker was lost.
    retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });
}

/** Reads back what the checks of the watch have written: only the row shows how many there were. */
async function syncWithRow(state: ConnectionState, before: ConnectionState['document']): Promise<void> {
  // A check whose worker was lost may still be written and must never count as newer than what follows.
  state.quickRevision = Math.max(state.quickRevision, watchedRevision(state));
  try {
    const recorded = await records.readRecorded({ connectionId: before.id });
    if (recorded === null) return;
    const { revision, lastCheckAt: last_auth_check_at } = recorded;
    if (state.document === before) {
      state.document = { ...before, last_auth_check_at, revision };
      state.recordedRevision = revision;
    } else {
      state.document = { ...state.document, last_auth_check_at };
    }
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.error('row not read', { code: failureCodeOf(error) });
  }
}
