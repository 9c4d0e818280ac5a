import type { FocusedControl } from '../../../../contract/screencast.ts';
import type { HandAction } from '../../deps.ts';
import { doOnPage } from '../calls.ts';

/** As many actions as one call takes. */
const MAX_ACTIONS = 50;

/** An action whose pause is not known yet. */
type Without<Action> = Action extends HandAction ? Omit<Action, 'after_ms'> : never;

/** Does something on the site's page. */
export type Send = (action: Without<HandAction>) => void;

/**
 * Sends what is done in its order, one call at a time; what is done meanwhile goes with the next.
 * @param onFocus is told what has the keyboard on the page since.
 */
export function createSender(onFocus: (focus: FocusedControl) => void): Send {
  const waiting: HandAction[] = [];
  let isSending = false;
  let last = 0;
  const flush = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    while (waiting.length > 0) {
      const outcome = await doOnPage(waiting.splice(0, MAX_ACTIONS));
      if (outcome.kind === 'ok' && outcome.value.focus !== null) onFocus(outcome.value.focus);
    }
    isSending = false;
  };
  return (action) => {
    const now = performance.now();
    const pause = waiting.length === 0 ? 0 : Math.min(1000, Math.round(now - last));
    last = now;
    waiting.push({ ...action, after_ms: pause });
    void flush();
  };
}
