import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { AuditExportActivities } from '../../contract/audit-export.ts';
import { exportWokenSignal } from '../message-definitions.ts';
import { exportQueue } from '../messages.ts';

/** What the workflow of a destination is started with. */
export interface AuditExportInput {
  destinationId: string;
}

/** A run continues as new at this many events: some forty objects, or three hours without any. */
const MAX_EVENTS = 300;

/**
 * Delivers the audit log to one destination for as long as it is active: each object when its window commits, again after ever
 * longer pauses where it fails. How far it has come, and when it tries again, stands in the store, so that nothing is lost with
 * a run. A signal says that the destination has changed.
 */
export async function exportAuditLog({ destinationId }: AuditExportInput): Promise<void> {
  const { exportNext } = proxyActivities<AuditExportActivities>({
    taskQueue: exportQueue(workflowInfo().taskQueue),
    priority: { fairnessKey: destinationId },
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: '20 seconds',
    // What a destination refuses is a result; a try fails when our store is away or its worker was lost.
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
