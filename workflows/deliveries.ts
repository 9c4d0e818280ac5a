import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { AuditExportActivities } from '../contract/audit-export.ts';
import type { WebhookActivities } from '../contract/webhooks.ts';
import { exportWokenSignal, webhookWokenSignal } from './message-definitions.ts';
import { exportQueue, webhookQueue } from './messages.ts';

/** A run continues as new after this many events: some thirty webhook attempts, forty objects or three idle hours. */
const MAX_EVENTS = 300;

/** The input of a lane's workflow. `isDue`: the pending delivery has waited long enough for its next attempt. */
interface WebhookLaneInput {
  webhookId: string;
  lane: string;
  isDue?: boolean;
}

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
    if (isLongRun()) await continueAsNew<typeof deliverWebhooks>({ webhookId, lane, isDue });
  }
}

/** The input of a destination's workflow. */
interface AuditExportInput {
  destinationId: string;
}

/**
 * Delivers the audit log to one destination while it is active: each object when its window commits, with ever longer pauses
 * after failures. Its position and next attempt are in the store, so nothing is lost with a run. A signal reports changes of
 * the destination.
 */
export async function exportAuditLog({ destinationId }: AuditExportInput): Promise<void> {
  const { exportNext } = proxyActivities<AuditExportActivities>({
    taskQueue: exportQueue(workflowInfo().taskQueue),
    priority: { fairnessKey: destinationId },
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: '20 seconds',
    // A rejection by the destination is a result; an attempt fails if our store is unavailable or its worker was lost.
    retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  });
  let wakes = 0;
  setHandler(exportWokenSignal, () => {
    wakes += 1;
  });
  for (;;) {
    const seen = wakes;
    const step = await exportNext({ destinationId, now: Date.now() });
    if (step.next === 'none' && wakes === seen) return;
    if (step.next === 'wait') await condition(() => wakes > seen, step.afterMs);
    if (isLongRun()) await continueAsNew<typeof exportAuditLog>({ destinationId });
  }
}

function isLongRun(): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength >= MAX_EVENTS || continueAsNewSuggested;
}
