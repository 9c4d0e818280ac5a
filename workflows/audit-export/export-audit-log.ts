import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { AuditExportActivities } from '../../contract/audit-export.ts';
import { exportWokenSignal } from '../message-definitions.ts';
import { exportQueue } from '../messages.ts';

/** The input of a destination's workflow. */
export interface AuditExportInput {
  destinationId: string;
}

/** A run continues as new after this many events: some forty objects, or three hours without any. */
const MAX_EVENTS = 300;

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
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (historyLength >= MAX_EVENTS || continueAsNewSuggested)
      await continueAsNew<typeof exportAuditLog>({ destinationId });
  }
}
