import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { deployApp, invokeAction } from '../workflows/index.ts';
import { TASK_QUEUE, WORKFLOWS } from '../workflows/messages.ts';
import { translate } from './temporal-errors.ts';

/** The workflows that build and run programs. Each call may be repeated; all throw `unavailable` when Temporal is away. */
export interface AppsClient {
  deploy(deploymentId: string): Promise<void>;
  invoke(invocation: { invocationId: string; timeoutMs: number; retries: number }): Promise<void>;
  /** Has it end, with what it has begun; nothing where it has ended. */
  cancel(kind: 'deployment' | 'invocation', id: string): Promise<void>;
  /** `none`: it was never started. */
  state(kind: 'deployment' | 'invocation', id: string): Promise<'running' | 'ended' | 'none'>;
}

/** Makes the handle on them, over a Temporal client with Holdfast's data converter. */
export function createAppsClient({
  temporal,
  taskQueue = TASK_QUEUE,
}: {
  temporal: Client;
  taskQueue?: string;
}): AppsClient {
  const handle = (kind: string, id: string) => temporal.workflow.getHandle(`${kind}-${id}`);
  return {
    deploy: (deploymentId) =>
      once(() =>
        temporal.workflow.start<typeof deployApp>(WORKFLOWS.deploy, {
          workflowId: `deployment-${deploymentId}`,
          taskQueue,
          args: [{ deploymentId }],
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          staticSummary: 'Builds a program',
        }),
      ),
    invoke: (input) =>
      once(() =>
        temporal.workflow.start<typeof invokeAction>(WORKFLOWS.invoke, {
          workflowId: `invocation-${input.invocationId}`,
          taskQueue,
          args: [input],
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          staticSummary: 'Runs an action of a program',
        }),
      ),
    cancel: async (kind, id) => {
      try {
        await handle(kind, id).cancel();
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw translate(error);
      }
    },
    state: async (kind, id) => {
      try {
        const { status } = await handle(kind, id).describe();
        return status.name === 'RUNNING' ? 'running' : 'ended';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'none';
        throw translate(error);
      }
    },
  };
}

async function once(start: () => Promise<unknown>): Promise<void> {
  try {
    await start();
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translate(error);
  }
}
