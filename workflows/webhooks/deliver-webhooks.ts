import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { WebhookActivities } from '../../contract/webhooks.ts';
import { webhookWokenSignal } from '../message-definitions.ts';
import { webhookQueue } from '../messages.ts';

/** The input of a lane's workflow. `isDue`: the pending delivery has waited long enough for its next attempt. */
export interface WebhookLaneInput {
  webhookId: string;
  lane: string;
  isDue?: boolean;
}

/** A run continues as new after this many events, some thirty attempts. */
const MAX_EVENTS = 300;

/**
 * Delivers the events of one connection to one webhook in order: each after the one before was accepted, or was given up after
 * three days. It ends when nothing is left; the next event starts it again. Events and attempts are in the store, so nothing
 * is lost with a run.
 */
export async function deliverWebhooks(input: WebhookLaneInput): Promise<void> {
  const { webhookId, lane } = input;
  const { deliverNext } = proxyActivities<WebhookActivities>({
    taskQueue: webhookQueue(workflowInfo().taskQueue),
    priority: { fairnessKey: webhookId },
    startToCloseTimeout: '20 seconds',
    scheduleToCloseTimeout: '1 day',
    // An endpoint's response is a result; an attempt fails if the store is unavailable or its worker was lost.
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
