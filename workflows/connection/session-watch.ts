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
} from '../../contract/watched-checks.ts';
import { checkNumberAt, nextCheckAtMs } from '../../contract/check-times.ts';
import { failureCodeOf } from '../flow/failures.ts';
import { browserQueue } from '../messages.ts';
import { records } from '../records.ts';
import { mayAskQuickly } from './quick-check.ts';
import { targetOf } from './login-target.ts';
import { lastWatched, type ConnectionState } from './state.ts';

/** What a watch has found that it cannot see to itself, and under which id it is recorded. */
export interface Watched {
  found: HealthOutcome | QuickCheckMiss | 'not asked';
  checkId: string | null;
}

/** A watch begins anew after this time, so that none rests for ever on what it was begun with. */
const LONGEST = '30 days';

/** True where the checks that come may be made unseen by the workflow: at known times, of a session that is as it was. */
export function mayWatch(state: ConnectionState): boolean {
  return state.watches === true && state.checking === null && hasSlot(state) && mayAskQuickly(state);
}

/** True where the connection has a place among all that are checked at its interval. */
export function hasSlot({ checkSlot, document: { settings } }: ConnectionState): boolean {
  return checkSlot?.intervalSeconds === settings.health_check_interval;
}

/**
 * Has the check that is due made, and those that follow it, by one activity that is tried again whenever the next is due: the
 * history grows by none of them. `interrupted` when something has changed that they depend on, or the watch has lasted long:
 * what is due next is in the state, and nothing is recorded meanwhile.
 */
export async function watchSession(state: ConnectionState): Promise<Watched | 'interrupted'> {
  const place = state.checkSlot;
  if (place === null || place === undefined) return { found: 'not asked', checkId: null };
  const { document: before, timerEpoch: epoch } = state;
  const firstNumber = checkNumberAt(Date.now(), place);
  const revision = Math.max(before.revision, state.quickRevision);
  state.watch = { place, firstNumber, revision };
  const end = await untilOver(state, (watches) =>
    watches.watchSession({
      target: targetOf(state),
      credential: state.credential,
      document: { ...before, revision },
      place,
      firstNumber,
      watchId: uuid4(),
    }),
  );
  await adoptRecorded(state, before);
  state.watch = null;
  if (end === 'interrupted') {
    const last = state.document.last_auth_check_at;
    // Whatever has begun the schedule anew has said when it goes on.
    if (state.timerEpoch === epoch)
      state.nextCheckAt = nextCheckAtMs(last === null ? Date.now() : Date.parse(last), place);
    return 'interrupted';
  }
  state.tooSlowToAskQuickly = end.missed === 'late';
  if (end.missed === null) {
    const { check, credential, checkId } = end;
    return { found: { outcome: 'authenticated', errorCode: null, check, credential }, checkId };
  }
  return { found: end.missed === 'overtaken' ? 'not asked' : end.missed, checkId: null };
}

/** Runs the watch until it ends, or what it rests on changes. It is over for the server, too, when this resolves. */
async function untilOver(
  state: ConnectionState,
  begin: (watches: Pick<QuickCheckActivities, 'watchSession'>) => Promise<WatchEnd>,
): Promise<WatchEnd | 'interrupted'> {
  const { document, credential, timerEpoch } = state;
  const isDisturbed = (): boolean =>
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
    const watching = scope.run(() => begin(watchesOf(document.organization_id)));
    scope
      .run(() => condition(isDisturbed))
      .then(
        () => scope.cancel(),
        () => undefined,
      );
    return await watching;
  } catch (error) {
    if (CancellationScope.current().consideredCancelled) throw error;
    if (isCancellation(error) || isOver(error)) return 'interrupted';
    log.warn('a watch failed', { code: failureCodeOf(error) });
    return { missed: 'overtaken' };
  } finally {
    scope.cancel();
  }
}

/** True of how a watch ends that is cancelled during a try or has lasted long enough: not by a fault. */
function isOver(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  const { cause } = error;
  return cause instanceof TimeoutFailure || (cause instanceof ApplicationFailure && cause.type === STILL_SIGNED_IN);
}

/** Its tries go before the checks in a browser, which take a hundred times as long, and come after nobody who waits. */
function watchesOf(organizationId: string): Pick<QuickCheckActivities, 'watchSession'> {
  return proxyActivities<Pick<QuickCheckActivities, 'watchSession'>>({
    taskQueue: browserQueue(workflowInfo().taskQueue, 'checks'),
    priority: { priorityKey: 2, fairnessKey: organizationId },
    startToCloseTimeout: '10 seconds',
    scheduleToCloseTimeout: LONGEST,
    // A try that has found the session as it was says itself when the next is due: these are for one whose worker was lost.
    retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });
}

/** Learns what the checks of the watch have written: only the row tells how many there were. */
async function adoptRecorded(state: ConnectionState, before: ConnectionState['document']): Promise<void> {
  // A check whose worker was lost may still be written, and must never count as newer than what comes now.
  state.quickRevision = Math.max(state.quickRevision, lastWatched(state));
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
    log.error('a row could not be read', { code: failureCodeOf(error) });
  }
}
