import { Webhook } from 'standardwebhooks';
import { request, type Dispatcher } from 'undici';
import type { WebhookActivities, WebhookAttempt, WebhookDeliveryError } from '../../contract/webhooks.ts';
import { createGuardedDispatcher } from '../../egress/guard.ts';
import type { EgressPolicy } from '../../egress/policy.ts';
import { EgressRefusedError } from '../../egress/resolve.ts';
import type { NextDelivery } from '../../store/queries/webhook-deliveries.ts';
import type { Store } from '../../store/store.ts';
import { guard } from '../activity.ts';

/** An endpoint that answers later than this does not answer, in milliseconds: it should take the event and work later. */
const ANSWER_TIMEOUT_MS = 10_000;

/** Makes the activity that delivers events: each is signed, and posted to no address that the egress rules refuse. */
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

/** Posts an event. Redirects are not followed, and what is answered beside the status is dropped unread. */
async function post(dispatcher: Dispatcher, delivery: NextDelivery): Promise<WebhookAttempt> {
  const { url, messageId, body } = delivery;
  const now = new Date();
  const signatures = delivery.secrets.map((secret) => new Webhook(secret).sign(messageId, now, body));
  const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
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
