import type { Client } from '@temporalio/client';
import type { deliverWebhooks } from '../workflows/index.ts';
import { webhookWokenSignal } from '../workflows/message-definitions.ts';
import { TASK_QUEUE, WORKFLOWS } from '../workflows/messages.ts';
import { translate } from './temporal-errors.ts';

/** The workflows that deliver to webhooks. */
export interface WebhookLanes {
  /** Has a lane deliver what waits: starts its workflow, or wakes it up. Throws `unavailable` when Temporal does not answer. */
  wake(lane: { webhookId: string; lane: string }): Promise<void>;
}

/** Makes the handle on them, over a Temporal client with Holdfast's data converter. */
export function createWebhookLanes({
  temporal,
  taskQueue = TASK_QUEUE,
}: {
  temporal: Client;
  taskQueue?: string;
}): WebhookLanes {
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
