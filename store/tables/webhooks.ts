import type { Generated } from 'kysely';
import type { Webhook, WebhookDelivery, WebhookEventType, WebhookPayload } from '../../contract/webhooks.ts';
import type { Json } from './columns.ts';

/** Webhooks, and their deliveries. */
export interface WebhookTables {
  webhooks: {
    id: string;
    organization_id: string;
    project_id: string;
    url: string;
    description: string;
    events: WebhookEventType[];
    sealed_secret: Buffer;
    /** The secret before the last rotation, which still signs until `former_until`. */
    sealed_former_secret: Buffer | null;
    former_until: Date | null;
    status: Webhook['status'];
    paused_reason: NonNullable<Webhook['paused_reason']> | null;
    /** When deliveries started to fail without a success since. */
    failing_since: Date | null;
    last_success_at: Date | null;
    created_at: Date;
    updated_at: Date;
  };
  webhook_deliveries: {
    seq: Generated<number>;
    id: string;
    webhook_id: string;
    /** Deliveries of a lane stay in order: the id of the connection, or of the webhook for test events. */
    lane: string;
    message_id: string;
    event_type: WebhookPayload['type'];
    payload: Json<WebhookPayload>;
    status: WebhookDelivery['status'];
    attempts: number;
    /** When its workflow is due to be started or signaled; later while the workflow handles it. */
    dispatch_at: Date;
    next_attempt_at: Date | null;
    first_attempt_at: Date | null;
    last_attempt_at: Date | null;
    last_status_code: number | null;
    last_error: NonNullable<WebhookDelivery['last_error']> | null;
    created_at: Date;
  };
}
