import { uuid4 } from '@temporalio/workflow';
import type { HealthOutcome } from '../../contract/activities.ts';
import type { AuthStatus, TimelineEvent } from '../../contract/connections.ts';
import { proxyMessage } from '../flow/failures.ts';
import { browsing } from '../flow/proxies.ts';
import { newFlow } from './flows.ts';
import { flowEvent, targetOf, touch, type ConnectionState } from './state.ts';

/**
 * One health check: looks whether the profile is logged in and writes down what it found. An expired session goes
 * through the reauth gate.
 */
export async function runHealthCheck(state: ConnectionState, checkId: string): Promise<void> {
  const found = await lookAtSession(state, checkId);
  const previous = state.document.status;
  const nowIso = new Date().toISOString();
  if (found.credential !== null) state.credential = found.credential;
  const status = statusAfter(previous, found.outcome);
  const event: TimelineEvent = {
    id: `evt_${checkId.replaceAll('-', '')}`,
    type: 'health_check',
    status,
    timestamp: nowIso,
    previous_status: previous,
    ...(found.errorCode === null ? {} : { error_code: found.errorCode }),
    ...(found.outcome === 'inconclusive'
      ? { error_message: 'The check was inconclusive: the status stays as it was.' }
      : {}),
    ...(found.telemetryCaptured === true ? { telemetry_captured: true } : {}),
    ...(found.browserSessionId === undefined ? {} : { browser_session_id: found.browserSessionId }),
    ...(typeof found.replayId === 'string' ? { replay_id: found.replayId } : {}),
  };
  touch(state, { status, last_auth_check_at: nowIso }, [event]);
  state.lastCheckId = checkId;
  if (found.outcome === 'expired') requestReauth(state);
}

async function lookAtSession(state: ConnectionState, checkId: string): Promise<HealthOutcome> {
  try {
    return await browsing.checkHealth({ target: targetOf(state), checkId });
  } catch (error) {
    // No browser, no network, no answer: nothing is known of the session, so nothing is said of it.
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

/** The reauth gate: asks for a REAUTH flow, or leaves NEEDS_AUTH with its reason. */
function requestReauth(state: ConnectionState): void {
  const { settings, flow } = state.document;
  const busy = flow?.flow_status === 'IN_PROGRESS' || state.requestedFlow !== null;
  if (busy || !settings.auto_reauth || !settings.health_checks || !state.document.can_reauth) return;
  const started = newFlow('REAUTH', `flow_${uuid4().replaceAll('-', '')}`, Date.now());
  touch(state, { flow: started }, [{ ...flowEvent(started, started.started_at), step: 'INITIALIZED' }]);
  state.requestedFlow = { kind: 'reauth', flowId: started.flow_id };
}
