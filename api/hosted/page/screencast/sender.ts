import type { FocusedControl } from '../../../../contract/screencast.ts';
import type { InputAction } from '../../deps.ts';
import { sendInput } from '../calls.ts';

/** Maximum actions per call. */
const MAX_ACTIONS = 50;

/** An action without its delay. */
type WithoutDelay<Action> = Action extends InputAction ? Omit<Action, 'after_ms'> : never;

/** Sends input to the site's page. */
export type Send = (action: WithoutDelay<InputAction>) => void;

/** Sends input in order, one call at a time; actions in the meantime go with the next call. `onFocus` gets the focused control. */
export function createSender(onFocus: (focus: FocusedControl) => void): Send {
  const queue: InputAction[] = [];
  let isSending = false;
  let last = 0;
  const flush = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    while (queue.length > 0) {
      const outcome = await sendInput(queue.splice(0, MAX_ACTIONS));
      if (outcome.kind === 'ok' && outcome.value.focus !== null) onFocus(outcome.value.focus);
    }
    isSending = false;
  };
  return (action) => {
    const now = performance.now();
    const pause = queue.length === 0 ? 0 : Math.min(1000, Math.round(now - last));
    last = now;
    queue.push({ ...action, after_ms: pause });
    void flush();
  };
}
