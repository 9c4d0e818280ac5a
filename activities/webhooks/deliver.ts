import { Webhook } from 'standardwebhooks';
import { request, type Dispatcher } from 'undici';
import type { WebhookActivities, WebhookAttempt, WebhookDeliveryError } from '../../contract/webhooks.ts';
import { createGuardedDispatcher } from '../../egress/guard.ts';
import type { EgressPolicy } from '../../egress/policy.ts';
import { EgressRefusedError } from '../../egress/resolve.ts';
import type { NextDelivery } from '../../store/queries/webhook-deliveries.ts';
import type { Store } from '../../store/store.ts';
import { guard } from '../activity.ts';

/** Endpoints should acknowledge an event within this time and process it later, in milliseconds. */
const RESPONSE_TIMEOUT_MS = 10_000;

/** Creates the activity that delivers events, signed, to endpoints that the egress rules allow. */
export function createWebhookActivities(
  store: Pick<Store, 'webhookDeliveries'>,
  egress: EgressPolicy,
): WebhookActivities {
  const dispatcher = createGuardedDispatcher(egress);
  return {
    deliverNext: guard(async ({ webhookId, lane, isDue }) => {
      const delivery = await store.webhookDeliveries.next({ webhookId, lane });
      if (delivery === null) return { next: 'none' };
      if (!isDue && delivery.dueInMs > 0) return { next: 'wait', afterMs: delivery.dueInMs };
      return await store.webhookDeliveries.settle(delivery.id, await post(dispatcher, delivery));
    }),
  };
}

/** Posts an event. Redirects are not followed, and the response body is discarded unread. */
async function post(dispatcher: Dispatcher, delivery: NextDelivery): Promise<WebhookAttempt> {
  const { url, messageId, body } = delivery;
  const now = new Date();
  const signatures = delivery.secrets.map((secret) => new Webhook(secret).sign(messageId, now, body));
  const timeout = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
  try {
    const answer = await request(url, {
      dispatcher,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Holdfast-Webhooks',
        'webhook-id': messageId,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': signatures.join(' '),
      },
      body,
      signal: timeout,
    });
    answer.body.on('error', () => undefined).destroy();
    return { statusCode: answer.statusCode, error: errorOf(answer.statusCode) };
  } catch (error) {
    if (timeout.aborted) return { statusCode: null, error: 'timeout' };
    return { statusCode: null, error: error instanceof EgressRefusedError ? 'address_refused' : 'unreachable' };
  }
}

function errorOf(status: number): WebhookDeliveryError | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? 'redirected' : 'refused';
}
