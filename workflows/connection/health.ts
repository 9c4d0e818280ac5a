import { condition, isCancellation, log, patched, uuid4 } from '@temporalio/workflow';
import type { HealthOutcome } from '../../contract/activities.ts';
import { checkEvent, type QuickCheckMiss } from '../../contract/watched-checks.ts';
import type { AuthStatus, TimelineEvent } from '../../contract/connections.ts';
import type { ReauthBackOff } from '../../contract/document.ts';
import { failureCodeOf, proxyMessage } from '../flow/failures.ts';
import { createBrowserActivities } from '../flow/activities.ts';
import { records } from '../records.ts';
import { checkQuickly } from './quick-check.ts';
import { hasSlot, canWatch, watchSession, type Watched } from './session-watch.ts';
import { nextCheckAtMs, randomDelayMs } from '../../contract/check-times.ts';
import { isBackingOff, withBackOff } from '../policy/back-off.ts';
import { newFlowId, requestFlow } from './flows.ts';
import { targetOf } from './login-target.ts';
import { reauthMemory, applyChange, type ConnectionState } from './state.ts';

/** Checks the session on its schedule and on request, also during flows. */
export async function runHealthChecks(state: ConnectionState): Promise<void> {
  for (;;) {
    await waitForDueCheck(state);
    const watched = canWatch(state) ? await watchSession(state) : null;
    if (watched === 'interrupted') continue;
    const checkId = (state.checking ??= uuid4());
    await runHealthCheck(state, checkId, watched);
    state.nextCheckAt = null;
    state.lastCheckId = checkId;
    state.checking = null;
  }
}

/** Waits for a requested check or for the timer. */
async function waitForDueCheck(state: ConnectionState): Promise<void> {
  while (state.checking === null) {
    const { settings } = state.document;
    // Before the first successful login there is no session to check.
    const isScheduled = settings.health_checks && state.hadLogin;
    if (!isScheduled) state.nextCheckAt = null;
    else if (state.nextCheckAt === null) {
      const changedMeanwhile = await takeSlot(state);
      if (changedMeanwhile) continue;
      state.nextCheckAt = nextCheckTime(state);
    }
    const epoch = state.timerEpoch;
    const changed = (): boolean => state.checking !== null || state.timerEpoch !== epoch;
    if (state.nextCheckAt === null) await condition(changed);
    // An overdue check starts at once: a run that ends soon would end before its timer fires.
    else if (state.nextCheckAt <= Date.now()) return;
    else if (!(await condition(changed, state.nextCheckAt - Date.now()))) return;
  }
}

/** Requests a slot in the check schedule if needed. True if something the timer depends on changed in the meantime. */
async function takeSlot(state: ConnectionState): Promise<boolean> {
  const { id, settings } = state.document;
  const intervalSeconds = settings.health_check_interval;
  // A run that began before there were slots uses random times until it replays past this point.
  if (hasSlot(state) || !patched('check-slots')) return false;
  const epoch = state.timerEpoch;
  state.takingSlot = true;
  try {
    const { slot } = await records.takeCheckSlot({ connectionId: id, intervalSeconds });
    state.checkSlot = slot === null ? null : { intervalSeconds, slot };
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('no slot in the check schedule', { code: failureCodeOf(error) });
  } finally {
    state.takingSlot = false;
  }
  return state.timerEpoch !== epoch || state.checking !== null;
}

/** When the next check is due: at the connection's own second, or at a random time while it has no slot. */
function nextCheckTime({ document: { settings }, checkSlot }: ConnectionState): number {
  const intervalSeconds = settings.health_check_interval;
  return checkSlot?.intervalSeconds === intervalSeconds
    ? nextCheckAtMs(Date.now(), checkSlot)
    : Date.now() + randomDelayMs(intervalSeconds, Math.random());
}

/** Runs one health check and records its outcome. An expired session goes through the reauth gate. */
async function runHealthCheck(state: ConnectionState, checkId: string, watched: Watched | null): Promise<void> {
  const quick = watched?.found ?? (await checkQuickly(state, checkId));
  if (quick === 'recorded') return;
  const found = typeof quick === 'string' ? await checkInBrowser(state, checkId, quick) : quick;
  const previous = state.document.status;
  const nowIso = new Date().toISOString();
  if (found.credential !== null) state.credential = found.credential;
  const status = statusAfter(previous, found.outcome);
  const backOff = activeBackOff(state);
  const event: TimelineEvent = {
    ...checkEvent(watched?.checkId ?? checkId, status, nowIso),
    previous_status: previous,
    ...(found.errorCode === null ? {} : { error_code: found.errorCode }),
    ...(found.outcome === 'inconclusive'
      ? { error_message: 'The check was inconclusive; the status is unchanged' }
      : {}),
    ...(found.outcome === 'expired' && backOff !== null ? { error_message: withBackOff(null, backOff) } : {}),
    ...(found.telemetryCaptured === true ? { telemetry_captured: true } : {}),
    ...(found.check === undefined ? {} : { check: found.check }),
    ...(found.browserSessionId === undefined ? {} : { browser_session_id: found.browserSessionId }),
    ...(typeof found.replayId === 'string' ? { replay_id: found.replayId } : {}),
    ...(typeof found.replayError === 'string' ? { replay_error: found.replayError } : {}),
  };
  const learned = found.requestCheck === undefined ? {} : { request_check: found.requestCheck };
  applyChange(state, { status, last_auth_check_at: nowIso, ...learned }, [event]);
  if (found.outcome === 'expired') requestReauth(state);
}

async function checkInBrowser(
  state: ConnectionState,
  checkId: string,
  quick: QuickCheckMiss | 'skipped',
): Promise<HealthOutcome> {
  try {
    const browser = createBrowserActivities('checks', state.document.organization_id);
    const { requestCheck, ...target } = targetOf(state);
    // A request that was just made and was inconclusive is not repeated.
    const mayRequest = quick !== 'unsure' && requestCheck !== undefined;
    return await browser.checkHealth({ target: { ...target, ...(mayRequest ? { requestCheck } : {}) }, checkId });
  } catch (error) {
    if (isCancellation(error)) throw error;
    // No browser, no network or no answer: the state of the session is unknown.
    const errorCode = proxyMessage(error) === null ? 'browser_error' : 'network_error';
    return { outcome: 'inconclusive', errorCode, credential: state.credential };
  }
}

function statusAfter(previous: AuthStatus, outcome: HealthOutcome['outcome']): AuthStatus {
  switch (outcome) {
    case 'authenticated':
      return 'AUTHENTICATED';
    case 'expired':
      return 'NEEDS_AUTH';
    case 'inconclusive':
      return previous;
  }
}

/** The back-off that delays a REAUTH now, or null. */
function activeBackOff({ document, credential }: ConnectionState): ReauthBackOff | null {
  const { backOff } = reauthMemory(document);
  return isBackingOff(backOff, credential, Date.now()) ? backOff : null;
}

/** The reauth gate: requests a REAUTH flow, or leaves the connection NEEDS_AUTH. */
function requestReauth(state: ConnectionState): void {
  const { settings, flow } = state.document;
  const busy = flow?.flow_status === 'IN_PROGRESS' || state.requestedFlow !== null;
  if (busy || !settings.auto_reauth || !settings.health_checks || !state.document.can_reauth) return;
  if (activeBackOff(state) !== null) return;
  requestFlow(state, { kind: 'reauth', flowId: newFlowId() });
}
