import type { Client } from '@temporalio/client';
import type { deliverWebhooks, exportAuditLog } from '../workflows/index.ts';
import { exportWokenSignal, webhookWokenSignal } from '../workflows/message-definitions.ts';
import { TASK_QUEUE, WORKFLOWS } from '../workflows/messages.ts';
import { startOnce, translate } from './temporal-errors.ts';

/** Options of both clients. */
interface DeliveryClientOptions {
  /** A Temporal client with Holdfast's data converter. */
  temporal: Client;
  taskQueue?: string;
}

/** The workflows that deliver the audit log. Calls are idempotent and throw `unavailable` if Temporal does not answer. */
export interface AuditExportsClient {
  /** Starts the workflow of a destination unless it is running. */
  start(destinationId: string): Promise<void>;
  /** Starts it or wakes it up, because its destination was changed, paused or deleted. */
  wake(destinationId: string): Promise<void>;
}

/** Creates the client of audit log exports. */
export function createAuditExportsClient({
  temporal,
  taskQueue = TASK_QUEUE,
}: DeliveryClientOptions): AuditExportsClient {
  const options = (destinationId: string) => ({
    workflowId: `audit-export-${destinationId}`,
    taskQueue,
    args: [{ destinationId }] satisfies Parameters<typeof exportAuditLog>,
    staticSummary: 'Delivers the audit log to a destination',
  });
  return {
    start: (destinationId) =>
      startOnce(() => temporal.workflow.start<typeof exportAuditLog>(WORKFLOWS.auditExport, options(destinationId))),
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

/** The workflows that deliver to webhooks. */
export interface WebhookLanes {
  /** Starts a lane's workflow or wakes it up. Throws `unavailable` if Temporal does not answer. */
  wake(lane: { webhookId: string; lane: string }): Promise<void>;
}

/** Creates the client of webhook deliveries. */
export function createWebhookLanes({ temporal, taskQueue = TASK_QUEUE }: DeliveryClientOptions): WebhookLanes {
  return {
    wake: async ({ webhookId, lane }) => {
      try {
        await temporal.workflow.signalWithStart<typeof deliverWebhooks>(WORKFLOWS.webhooks, {
          workflowId: `webhook-${webhookId}-${lane}`,
          taskQueue,
          args: [{ webhookId, lane }],
          signal: webhookWokenSignal,
          staticSummary: 'Delivers events to a webhook',
        });
      } catch (error) {
        throw translate(error);
      }
    },
  };
}
