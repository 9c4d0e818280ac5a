import type { AuthStatus, TimelineEvent } from '../contract/connections.ts';
import type { ConnectionDocument } from '../contract/document.ts';
import type { WebhookData, WebhookEventType } from '../contract/webhooks.ts';

/** What webhooks are told of. */
export interface WebhookEvent {
  type: WebhookEventType;
  data: WebhookData;
}

/** A change of a connection as it is recorded, with what was recorded before. */
export interface RecordedChange {
  before: ConnectionDocument;
  after: ConnectionDocument;
  timeline: readonly TimelineEvent[];
  /** What the store holds of these events of the timeline already. */
  stored: readonly TimelineEvent[];
  /** The newest health check that the store holds. */
  lastCheck: TimelineEvent | null;
}

/**
 * The events of a change, in their order. Pure. What happened between two recordings (the store was away) is read from the
 * timeline, so that no end of a flow and no lost session goes untold:
 *
 * | event            | when                                                                                                   |
 * | ---------------- | ------------------------------------------------------------------------------------------------------ |
 * | `authenticated`  | the status became AUTHENTICATED                                                                        |
 * | `needs_auth`     | it became NEEDS_AUTH                                                                                   |
 * | `awaiting_input` | a flow waits for an answer, or for an action elsewhere; anew for each interaction                      |
 * | `flow_ended`     | a flow ended, however it did                                                                           |
 * | `check_failed`   | a health check could not tell whether the profile is signed in; the status stays                       |
 * | `recovered`      | signed in again with nobody there, or a check could tell again what the one before it could not        |
 */
export function webhookEventsOf(change: RecordedChange): WebhookEvent[] {
  const { before, after, lastCheck } = change;
  const events: WebhookEvent[] = [];
  const tell = (type: WebhookEventType, about: Partial<WebhookData> = {}): void => {
    events.push({ type, data: { ...factsOf(after), ...about } });
  };
  let status = before.status;
  let checkFailed = lastCheck !== null && isFailedCheck(lastCheck);
  const becomes = (next: AuthStatus, about: Partial<WebhookData>, withNobody: boolean): void => {
    if (next === status) return;
    status = next;
    tell(next === 'AUTHENTICATED' ? 'connection.authenticated' : 'connection.needs_auth', { ...about, status });
    if (next !== 'AUTHENTICATED' || !withNobody) return;
    checkFailed = false;
    tell('connection.recovered', { ...about, status });
  };

  for (const event of change.timeline) {
    const known = change.stored.find(({ id }) => id === event.id);
    if (event.type === 'health_check') {
      if (known !== undefined) continue;
      if (isFailedCheck(event)) {
        checkFailed = true;
        tell('connection.check_failed', errorOf(event));
      } else if (event.status === status && event.status === 'AUTHENTICATED' && checkFailed) {
        checkFailed = false;
        tell('connection.recovered');
      }
      if (event.status === 'AUTHENTICATED' || event.status === 'NEEDS_AUTH') becomes(event.status, {}, true);
    } else if (hasEnded(event) && (known === undefined || !hasEnded(known))) {
      const about = flowFactsOf(event);
      tell('connection.flow_ended', { ...about, ...errorOf(event) });
      if (event.status === 'SUCCESS') becomes('AUTHENTICATED', about, event.type === 'reauth');
    }
  }
  becomes(after.status, {}, false);
  const { flow } = after;
  const interactionId = flow?.flow_status === 'IN_PROGRESS' ? flow.interaction?.interaction_id : undefined;
  if (interactionId !== undefined && interactionId !== before.flow?.interaction?.interaction_id)
    tell('connection.awaiting_input', { ...flowFacts(after), interaction_id: interactionId });
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

/** A flow as its event of the timeline has it: a newer one may have taken its place in the document. */
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

/** A session that has expired is what a check found; all other codes say why it found nothing. */
function isFailedCheck({ type, error_code }: TimelineEvent): boolean {
  return type === 'health_check' && error_code !== undefined && error_code !== 'session_expired';
}
