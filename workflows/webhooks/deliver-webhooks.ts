import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { WebhookActivities } from '../../contract/webhooks.ts';
import { webhookWokenSignal } from '../message-definitions.ts';
import { webhookQueue } from '../messages.ts';

/** What a lane's workflow is started with. `isDue`: the delivery that waited for its next attempt has waited enough. */
export interface WebhookLaneInput {
  webhookId: string;
  lane: string;
  isDue?: boolean;
}

/** A run continues as new at this many events, some thirty attempts. */
const MAX_EVENTS = 300;

/**
 * Delivers the events of one connection to one webhook, in their order: the next one goes out when the one before it was taken,
 * or given up after three days. It ends when nothing is left, and is started again by the next event. What is sent, and how
 * often it was, stands in the store, so that nothing is lost with a run.
 */
export async function deliverWebhooks(input: WebhookLaneInput): Promise<void> {
  const { webhookId, lane } = input;
  const { deliverNext } = proxyActivities<WebhookActivities>({
    taskQueue: webhookQueue(workflowInfo().taskQueue),
    priority: { fairnessKey: webhookId },
    startToCloseTimeout: '20 seconds',
    scheduleToCloseTimeout: '1 day',
    // What an endpoint answers is a result; a try fails when the store is away or its worker was lost.
    retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  });
  let { isDue = false } = input;
  let wakes = 0;
  setHandler(webhookWokenSignal, () => {
    wakes += 1;
  });
  for (;;) {
    const seen = wakes;
    const step = await deliverNext({ webhookId, lane, isDue });
    if (step.next === 'none' && wakes === seen) return;
    isDue = step.next === 'wait' && !(await condition(() => wakes > seen, step.afterMs));
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (historyLength >= MAX_EVENTS || continueAsNewSuggested)
      await continueAsNew<typeof deliverWebhooks>({ webhookId, lane, isDue });
  }
}
