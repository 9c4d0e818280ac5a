import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import type { exportAuditLog } from '../workflows/index.ts';
import { exportWokenSignal } from '../workflows/message-definitions.ts';
import { TASK_QUEUE, WORKFLOWS } from '../workflows/messages.ts';
import { translate } from './temporal-errors.ts';

/** The workflows that deliver the audit log to destinations. Each call may be repeated; both throw `unavailable` when Temporal is away. */
export interface AuditExportsClient {
  /** Has the workflow of a destination run; nothing where it does. */
  start(destinationId: string): Promise<void>;
  /** Has it run and look at its destination at once: that was changed, paused or deleted. */
  wake(destinationId: string): Promise<void>;
}

/** Makes the handle on them, over a Temporal client with Holdfast's data converter. */
export function createAuditExportsClient({
  temporal,
  taskQueue = TASK_QUEUE,
}: {
  temporal: Client;
  taskQueue?: string;
}): AuditExportsClient {
  const options = (destinationId: string) => ({
    workflowId: `audit-export-${destinationId}`,
    taskQueue,
    args: [{ destinationId }] satisfies Parameters<typeof exportAuditLog>,
    staticSummary: 'Delivers the audit log to a destination',
  });
  return {
    start: async (destinationId) => {
      try {
        await temporal.workflow.start<typeof exportAuditLog>(WORKFLOWS.auditExport, options(destinationId));
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translate(error);
      }
    },
    wake: async (destinationId) => {
      try {
        await temporal.workflow.signalWithStart<typeof exportAuditLog>(WORKFLOWS.auditExport, {
          ...options(destinationId),
          signal: exportWokenSignal,
        });
      } catch (error) {
        throw translate(error);
      }
    },
  };
}
