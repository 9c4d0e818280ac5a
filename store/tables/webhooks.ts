import type { Generated } from 'kysely';
import type { Webhook, WebhookDelivery, WebhookEventType, WebhookPayload } from '../../contract/webhooks.ts';
import type { Json } from './columns.ts';

/** Webhooks, and what is to be delivered to them. */
export interface WebhookTables {
  webhooks: {
    id: string;
    organization_id: string;
    project_id: string;
    url: string;
    description: string;
    events: WebhookEventType[];
    sealed_secret: Buffer;
    /** The secret before the last rotation, which signs until `former_until`. */
    sealed_former_secret: Buffer | null;
    former_until: Date | null;
    status: Webhook['status'];
    paused_reason: NonNullable<Webhook['paused_reason']> | null;
    /** Since when no delivery has succeeded. */
    failing_since: Date | null;
    last_success_at: Date | null;
    created_at: Date;
    updated_at: Date;
  };
  webhook_deliveries: {
    seq: Generated<number>;
    id: string;
    webhook_id: string;
    /** What is delivered in order: the id of the connection, or of the webhook itself for its tests. */
    lane: string;
    message_id: string;
    event_type: WebhookPayload['type'];
    payload: Json<WebhookPayload>;
    status: WebhookDelivery['status'];
    attempts: number;
    /** When its workflow is started, or woken up; later while that has it in hand. */
    dispatch_at: Date;
    next_attempt_at: Date | null;
    first_attempt_at: Date | null;
    last_attempt_at: Date | null;
    last_status_code: number | null;
    last_error: NonNullable<WebhookDelivery['last_error']> | null;
    created_at: Date;
  };
}
