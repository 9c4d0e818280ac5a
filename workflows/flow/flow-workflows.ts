import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { PERSON_WAIT_MS } from '../../contract/limits.ts';
import { answerSignal, flowEndedSignal, flowProgressSignal, flowWithdrawsSignal } from '../message-definitions.ts';
import type { SubmitInput } from '../messages.ts';
import { createBrowserActivities } from './activities.ts';
import type { FlowContext, FlowEnd, FlowInput } from './context.ts';
import { runFlow } from './run-flow.ts';

/** Logs in with a person who answers what is not stored. Its whole outcome is reported to the entity that started it. */
export async function login(input: FlowInput): Promise<void> {
  await runAsChild(input, 'attended');
}

/** Logs in again with stored credentials, unattended: the same state machine, which never waits for a person. */
export async function reauth(input: FlowInput): Promise<void> {
  await runAsChild(input, 'unattended');
}

async function runAsChild(input: FlowInput, mode: FlowContext['mode']): Promise<void> {
  const scope = new CancellationScope();
  const link = connectToEntity(input.flowId, () => {
    scope.cancel();
  });
  const queue = mode === 'attended' ? 'people' : 'checks';
  const browser = createBrowserActivities(queue, input.target.organizationId);
  const remaining = Math.max(1, Date.parse(input.expiresAt) - Date.now());
  let end: FlowEnd;
  try {
    const flow = () => runFlow({ ...input, ...link, mode, browser });
    const result = await scope.run(() => CancellationScope.withTimeout(remaining, flow));
    end = { status: result.status, result };
  } catch (error) {
    if (Date.now() >= Date.parse(input.expiresAt)) end = { status: 'EXPIRED', result: null };
    else end = { status: isCancellation(error) ? 'CANCELED' : 'FAILED', result: null };
  }
  await CancellationScope.nonCancellable(() => link.reportEnd(end));
}

/** A flow's messages to and from the entity that started it, whichever run of it is current. */
interface EntityLink extends Pick<FlowContext, 'report' | 'awaitAnswer'> {
  /** Reports how the flow ended; returns when the entity has received it or is gone. */
  reportEnd(end: FlowEnd): Promise<void>;
}

/** Connects a flow to its entity. Reports arrive in order, without blocking the flow. `onLost`: the entity is gone. */
function connectToEntity(flowId: string, onLost: () => void): EntityLink {
  const { parent } = workflowInfo();
  // Without a run id: the entity may continue as new while the flow runs.
  const entity = getExternalWorkflowHandle(parent?.workflowId ?? '');
  const answers = new Map<string, SubmitInput | null>();
  setHandler(answerSignal, ({ interactionId, input }) => {
    if (!answers.has(interactionId)) answers.set(interactionId, input);
  });

  let sent = Promise.resolve();
  const send = (signal: () => Promise<void>): Promise<void> => {
    sent = sent.then(() => CancellationScope.nonCancellable(signal)).catch(onLost);
    return sent;
  };
  return {
    report(patch) {
      void send(() => entity.signal(flowProgressSignal, { flowId, patch }));
    },
    async awaitAnswer(interactionId, waitMs = PERSON_WAIT_MS) {
      const answered = (): boolean => answers.has(interactionId);
      if (!(await condition(answered, waitMs))) {
        // The entity decides what came first: an answer it has accepted is on its way and is still used.
        await send(() => entity.signal(flowWithdrawsSignal, { flowId, interactionId }));
        await condition(answered);
      }
      const input = answers.get(interactionId) ?? null;
      return input === null ? { kind: 'timeout' } : { kind: 'submitted', input };
    },
    async reportEnd(end) {
      await send(() => entity.signal(flowEndedSignal, { flowId, end }));
    },
  };
}
