import { z } from 'zod';
import { HttpUrl } from './addresses.ts';
import { AuthStatus, CanReauthReason, FlowStatus, FlowStep, FlowType } from './connections.ts';

/** What webhooks are told of a connection. */
export const WebhookEventType = z.enum([
  'connection.authenticated',
  'connection.needs_auth',
  'connection.awaiting_input',
  'connection.flow_ended',
  'connection.check_failed',
  'connection.recovered',
]);
export type WebhookEventType = z.infer<typeof WebhookEventType>;

/** The `data` of an event on a connection, as it was then: ids, states and reasons, no word of a page or a person. */
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

/** The body that a webhook gets. A test has no connection to speak of. */
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
export const WebhookCreate = z.strictObject({
  url: settings.url,
  events: settings.events.optional(),
  description: settings.description.optional(),
});
export type WebhookCreate = z.infer<typeof WebhookCreate>;

/** Body of `PATCH /webhooks/{id}`. `status` pauses, and resumes what was paused by whomever. */
export const WebhookUpdate = z.strictObject({
  url: settings.url.optional(),
  events: settings.events.optional(),
  description: settings.description.optional(),
  status: z.enum(['active', 'paused']).optional(),
});
export type WebhookUpdate = z.infer<typeof WebhookUpdate>;

/** A webhook as it is answered. Its secret is shown by create and rotate alone. */
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

/** Answer of create and rotate: the one time that the secret is shown. */
export const WebhookWithSecret = Webhook.extend({
  secret: z.string().describe('`whsec_…`: verifies the signature of what is delivered'),
});

/** One event on its way to one webhook. */
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

/** What an attempt at a delivery came to: the status that was answered, or why there is none. */
export type WebhookAttempt = { statusCode: number | null; error: WebhookDeliveryError | null };

/** What a lane of deliveries to a webhook does next: `none` when nothing waits, `wait` for the next attempt of the same one. */
export type WebhookStep = { next: 'more' | 'none' } | { next: 'wait'; afterMs: number };

/** Activities that deliver events to webhooks. */
export interface WebhookActivities {
  /**
   * Makes one attempt at what is next in a lane, and writes down what it came to; with `isDue` even before its time. When it
   * runs again after a lost worker, the same event is posted again under the same id.
   */
  deliverNext(input: { webhookId: string; lane: string; isDue: boolean }): Promise<WebhookStep>;
}
