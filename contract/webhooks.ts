import { z } from 'zod';
import { HttpUrl } from './addresses.ts';
import { AuthStatus, CanReauthReason, FlowStatus, FlowStep, FlowType } from './connections.ts';

/** Events of connections that webhooks receive. */
export const WebhookEventType = z.enum([
  'connection.authenticated',
  'connection.needs_auth',
  'connection.awaiting_input',
  'connection.flow_ended',
  'connection.check_failed',
  'connection.recovered',
]);
export type WebhookEventType = z.infer<typeof WebhookEventType>;

/** The `data` of a connection event, as of then: ids, states and reasons, no text of a page or a person. */
export const WebhookData = z.strictObject({
  connection_id: z.string(),
  project_id: z.string(),
  status: AuthStatus,
  can_reauth: z.boolean(),
  can_reauth_reason: CanReauthReason,
  flow_id: z.string().optional(),
  flow_type: FlowType.optional(),
  flow_status: FlowStatus.optional(),
  flow_step: FlowStep.optional(),
  interaction_id: z.string().optional(),
  error_code: z.string().optional(),
});
export type WebhookData = z.infer<typeof WebhookData>;

/** The body of a webhook request. A test has no connection. */
export const WebhookPayload = z.union([
  z.strictObject({ type: WebhookEventType, timestamp: z.string(), data: WebhookData }),
  z.strictObject({
    type: z.literal('webhook.test'),
    timestamp: z.string(),
    data: z.strictObject({ webhook_id: z.string() }),
  }),
]);
export type WebhookPayload = z.infer<typeof WebhookPayload>;

const settings = {
  url: HttpUrl.describe('Where events are posted to: https, no redirects'),
  events: z
    .array(WebhookEventType)
    .min(1)
    .max(WebhookEventType.options.length)
    .describe('Which events are sent; all by default'),
  description: z.string().max(255),
};

/** Body of `POST /webhooks`. */
export const WebhookCreate = z.strictObject(settings).partial({ events: true, description: true });

/** Body of `PATCH /webhooks/{id}`. `status` pauses, and resumes whatever the cause of the pause. */
export const WebhookUpdate = z
  .strictObject(settings)
  .partial()
  .extend({ status: z.enum(['active', 'paused']).optional() });
/** A webhook. Only create and rotate show its secret. */
export const Webhook = z.strictObject({
  id: z.string(),
  url: z.string(),
  description: z.string(),
  events: z.array(WebhookEventType),
  status: z.enum(['active', 'paused']),
  paused_reason: z
    .enum(['failing', 'gone', 'requested'])
    .optional()
    .describe('`failing`: no event was taken for three days; `gone`: the endpoint answered 410; `requested`: by PATCH'),
  failing_since: z.string().optional().describe('Since when no delivery has succeeded'),
  last_success_at: z.string().optional(),
  former_secret_until: z.string().optional().describe('Until then the secret before the last rotation signs, too'),
  created_at: z.string(),
  updated_at: z.string(),
});
export type Webhook = z.infer<typeof Webhook>;

/** Response of create and rotate, the only ones with the secret. */
export const WebhookWithSecret = Webhook.extend({
  secret: z.string().describe('`whsec_…`: verifies the signature of what is delivered'),
});

/** The delivery of one event to one webhook. */
export const WebhookDelivery = z.strictObject({
  id: z.string(),
  webhook_id: z.string(),
  message_id: z.string().describe('The `webhook-id` header: the same for every attempt'),
  event_type: z.string(),
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.int(),
  payload: WebhookPayload,
  last_status_code: z.int().optional(),
  last_error: z
    .enum(['timeout', 'address_refused', 'unreachable', 'redirected', 'refused'])
    .optional()
    .describe('Why the last attempt failed'),
  created_at: z.string(),
  last_attempt_at: z.string().optional(),
  next_attempt_at: z.string().optional(),
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** Why an attempt failed. */
export type WebhookDeliveryError = NonNullable<WebhookDelivery['last_error']>;

/** Result of a delivery attempt: the response status, or why there is none. */
export type WebhookAttempt = { statusCode: number | null; error: WebhookDeliveryError | null };

/** The next step of a delivery lane: `none` if nothing is pending, `wait` for the next attempt of the same delivery. */
type WebhookStep = { next: 'more' | 'none' } | { next: 'wait'; afterMs: number };

/** Activities that deliver events to webhooks. */
export interface WebhookActivities {
  /** Makes one delivery attempt, with `isDue` even before its time. A retry posts the same event and id again. */
  deliverNext(input: { webhookId: string; lane: string; isDue: boolean }): Promise<WebhookStep>;
}
