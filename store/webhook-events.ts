import type { AuthStatus, TimelineEvent } from '../contract/connections.ts';
import type { ConnectionDocument } from '../contract/document.ts';
import type { WebhookData, WebhookEventType } from '../contract/webhooks.ts';

interface WebhookEvent {
  type: WebhookEventType;
  data: WebhookData;
}

/** A change of a connection to record, with the state recorded before. */
export interface RecordedChange {
  before: ConnectionDocument;
  after: ConnectionDocument;
  timeline: readonly TimelineEvent[];
  /** The stored versions of these timeline events. */
  stored: readonly TimelineEvent[];
  /** The newest stored health check. */
  lastCheck: TimelineEvent | null;
}

/**
 * The webhook events of a change, in order. Pure. Changes between two recordings (while the store was unavailable) are
 * derived from the timeline, so that no ended flow or lost session goes unreported:
 *
 * | event            | when                                                                                                   |
 * | ---------------- | ------------------------------------------------------------------------------------------------------ |
 * | `authenticated`  | the status became AUTHENTICATED                                                                        |
 * | `needs_auth`     | the status became NEEDS_AUTH                                                                           |
 * | `awaiting_input` | a flow awaits input or an external action; once per interaction                                        |
 * | `flow_ended`     | a flow ended, with any result                                                                          |
 * | `check_failed`   | a health check was inconclusive; the status stays                                                      |
 * | `recovered`      | an unattended sign-in succeeded, or a check was conclusive after an inconclusive one                   |
 */
export function deriveWebhookEvents(change: RecordedChange): WebhookEvent[] {
  const { before, after, lastCheck } = change;
  const events: WebhookEvent[] = [];
  const emit = (type: WebhookEventType, about: Partial<WebhookData> = {}): void => {
    events.push({ type, data: { ...factsOf(after), ...about } });
  };
  let status = before.status;
  let checkFailed = lastCheck !== null && isInconclusiveCheck(lastCheck);
  const transition = (next: AuthStatus, about: Partial<WebhookData>, isUnattended: boolean): void => {
    if (next === status) return;
    status = next;
    emit(next === 'AUTHENTICATED' ? 'connection.authenticated' : 'connection.needs_auth', { ...about, status });
    if (next !== 'AUTHENTICATED' || !isUnattended) return;
    checkFailed = false;
    emit('connection.recovered', { ...about, status });
  };

  for (const event of change.timeline) {
    const known = change.stored.find(({ id }) => id === event.id);
    if (event.type === 'health_check') {
      if (known !== undefined) continue;
      if (isInconclusiveCheck(event)) {
        checkFailed = true;
        emit('connection.check_failed', errorOf(event));
      } else if (event.status === status && event.status === 'AUTHENTICATED' && checkFailed) {
        checkFailed = false;
        emit('connection.recovered');
      }
      if (event.status === 'AUTHENTICATED' || event.status === 'NEEDS_AUTH') transition(event.status, {}, true);
    } else if (hasEnded(event) && (known === undefined || !hasEnded(known))) {
      const about = flowFactsOf(event);
      emit('connection.flow_ended', { ...about, ...errorOf(event) });
      if (event.status === 'SUCCESS') transition('AUTHENTICATED', about, event.type === 'reauth');
    }
  }
  transition(after.status, {}, false);
  const { flow } = after;
  const interactionId = flow?.flow_status === 'IN_PROGRESS' ? flow.interaction?.interaction_id : undefined;
  if (interactionId !== undefined && interactionId !== before.flow?.interaction?.interaction_id)
    emit('connection.awaiting_input', { ...flowFacts(after), interaction_id: interactionId });
  return events;
}

function factsOf(document: ConnectionDocument): WebhookData {
  const { id, project_id, status, can_reauth, can_reauth_reason } = document;
  return { connection_id: id, project_id, status, can_reauth, can_reauth_reason };
}

function flowFacts({ flow }: ConnectionDocument): Partial<WebhookData> {
  if (flow === null) return {};
  const { flow_id, flow_type, flow_status, flow_step } = flow;
  return { flow_id, flow_type, flow_status, flow_step };
}

/** The flow of a timeline event: the document may already hold a newer one. */
function flowFactsOf(event: TimelineEvent): Partial<WebhookData> {
  const { flow_id, type, status } = event;
  return {
    ...(flow_id === undefined ? {} : { flow_id }),
    flow_type: type === 'login' ? 'LOGIN' : 'REAUTH',
    ...(status === 'AUTHENTICATED' || status === 'NEEDS_AUTH' ? {} : { flow_status: status }),
  };
}

function errorOf({ error_code }: TimelineEvent): Partial<WebhookData> {
  return error_code === undefined ? {} : { error_code };
}

function hasEnded({ status }: TimelineEvent): boolean {
  return status !== 'IN_PROGRESS';
}

/** An expired session is a conclusive result; every other code means that the check was inconclusive. */
function isInconclusiveCheck({ type, error_code }: TimelineEvent): boolean {
  return type === 'health_check' && error_code !== undefined && error_code !== 'session_expired';
}
