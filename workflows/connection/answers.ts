import { condition, getExternalWorkflowHandle, isCancellation } from '@temporalio/workflow';
import { answerSignal } from '../message-definitions.ts';
import type { ConnectionState } from './state.ts';

/** Hands accepted answers, and word of withdrawn interactions, on to the flow that waits, in order. */
export async function deliverAnswers(state: ConnectionState): Promise<void> {
  for (;;) {
    await condition(() => state.outbox.length > 0);
    const [answer] = state.outbox;
    if (answer === undefined) continue;
    try {
      await getExternalWorkflowHandle(answer.flowId).signal(answerSignal, answer);
    } catch (error) {
      if (isCancellation(error)) throw error;
      // The flow has ended: its end is on its way, and nobody waits for the answer.
    }
    state.outbox.shift();
  }
}
