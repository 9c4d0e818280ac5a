import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { PERSON_WAIT_MS } from '../../contract/limits.ts';
import { answerSignal, flowEndedSignal, flowProgressSignal, flowWithdrawsSignal } from '../message-definitions.ts';
import type { SubmitInput } from '../messages.ts';
import type { FlowContext, FlowEnd } from './context.ts';

/** A flow's way to the entity that started it, whichever run of it lives. */
export interface EntityLink extends Pick<FlowContext, 'report' | 'awaitAnswer'> {
  /** Tells how the flow ended; returns when the entity has it, or is gone. */
  tellEnd(end: FlowEnd): Promise<void>;
}

/**
 * Connects a flow to its entity. Reports arrive in their order; the flow goes on while they travel.
 * @param onLost the entity is gone: nobody is told of the flow any more, so it ends.
 */
export function linkToEntity(flowId: string, onLost: () => void): EntityLink {
  const { parent } = workflowInfo();
  // Without a run id: the entity may continue as new while the flow lives.
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
        // The entity says what was first: an answer that it has accepted is on its way and is still taken.
        await send(() => entity.signal(flowWithdrawsSignal, { flowId, interactionId }));
        await condition(answered);
      }
      const input = answers.get(interactionId) ?? null;
      return input === null ? { kind: 'timeout' } : { kind: 'submitted', input };
    },
    async tellEnd(end) {
      await send(() => entity.signal(flowEndedSignal, { flowId, end }));
    },
  };
}
