import { ApplicationFailure, condition, defineSignal, setHandler } from '@temporalio/workflow';
import { documentQuery, submitUpdate } from '../../workflows/message-definitions.ts';
import type { ConnectionView, SubmitInput } from '../../workflows/messages.ts';

/** Lets the workflow come as far as its pause. */
export const reachPause = defineSignal('reachPause');

/**
 * A connection's workflow as a worker finds it that takes over from a dead one: its state shows a pause, and answers are
 * refused until it has come as far as the pause again.
 */
export async function latePause(view: ConnectionView): Promise<void> {
  let isThere = false;
  setHandler(documentQuery, () => view);
  setHandler(reachPause, () => {
    isThere = true;
  });
  setHandler(submitUpdate, () => ({ revision: view.document.revision, document: view.document }), {
    validator: (input: SubmitInput) => {
      if (isThere && input.interactionId === view.document.flow?.interaction?.interaction_id) return;
      throw ApplicationFailure.nonRetryable('Nothing awaits input on this connection.', 'not_awaiting_input');
    },
  });
  await condition(() => false);
}
