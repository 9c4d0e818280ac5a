import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { LoginTarget } from '../contract/activities.ts';
import type { FlowPatch, FlowResult } from './flow/context.ts';
import { runFlow } from './flow/run-flow.ts';
import { flowProgressSignal } from './message-definitions.ts';
import type { RefusedCredential } from './policy/credential-match.ts';

/** What a REAUTH child is started with. */
export interface ReauthInput {
  flowId: string;
  target: LoginTarget;
  expiresAt: string;
  refused: RefusedCredential | null;
  saveCredentials: boolean;
}

/** Logs in again with what is stored, nobody there: runs the same step machine as a LOGIN and never waits for a person. */
export async function reauth(input: ReauthInput): Promise<FlowResult> {
  const { parent } = workflowInfo();
  const entity = parent === undefined ? null : getExternalWorkflowHandle(parent.workflowId);
  return await runFlow({
    ...input,
    mode: 'unattended',
    report: async (patch: FlowPatch) => {
      await entity?.signal(flowProgressSignal, { flowId: input.flowId, patch });
    },
    awaitAnswer: () => Promise.resolve({ kind: 'timeout' }),
  });
}
