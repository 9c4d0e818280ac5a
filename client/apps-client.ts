import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { deployApp, invokeAction } from '../workflows/index.ts';
import { TASK_QUEUE, WORKFLOWS } from '../workflows/messages.ts';
import { startOnce, translate } from './temporal-errors.ts';

/** The workflows that build and run programs. Calls are idempotent and throw `unavailable` if Temporal does not answer. */
export interface AppsClient {
  deploy(deploymentId: string): Promise<void>;
  invoke(invocation: { invocationId: string; timeoutMs: number; retries: number }): Promise<void>;
  /** Cancels it with everything it started; does nothing if it has ended. */
  cancel(kind: 'deployment' | 'invocation', id: string): Promise<void>;
  /** `none`: it was never started. */
  state(kind: 'deployment' | 'invocation', id: string): Promise<'running' | 'ended' | 'none'>;
}

/** Creates the client over a Temporal client with Holdfast's data converter. */
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
      startOnce(() =>
        temporal.workflow.start<typeof deployApp>(WORKFLOWS.deploy, {
          workflowId: `deployment-${deploymentId}`,
          taskQueue,
          args: [{ deploymentId }],
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          staticSummary: 'Builds a program',
        }),
      ),
    invoke: (input) =>
      startOnce(() =>
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
