import { setTimeout as sleep } from 'node:timers/promises';
import { assertNever } from '../../contract/assert-never.ts';
import type { Batch, ComputerAction } from '../../contract/computer.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { Session } from '../session/session.ts';
import { toHoldfastError } from './errors.ts';
import { pressKeys, typeText } from './keyboard.ts';
import { clickMouse, dragMouse, moveMouse, scroll } from './mouse.ts';

/** Runs actions in order until one fails. The error's message contains its index. */
export async function runBatch(session: Session, { actions }: Batch): Promise<void> {
  for (const [index, action] of actions.entries()) {
    try {
      await runAction(session, action);
    } catch (cause) {
      const error = toHoldfastError(cause);
      throw new HoldfastError(error.code, `actions[${String(index)}] (${action.type}): ${error.message}`, {
        details: error.details,
      });
    }
  }
}

async function runAction(session: Session, action: ComputerAction): Promise<void> {
  switch (action.type) {
    case 'click_mouse':
      return clickMouse(session, action.click_mouse);
    case 'move_mouse':
      return moveMouse(session, action.move_mouse);
    case 'type_text':
      return typeText(session, action.type_text);
    case 'press_key':
      return pressKeys(session, action.press_key);
    case 'scroll':
      return scroll(session, action.scroll);
    case 'drag_mouse':
      return dragMouse(session, action.drag_mouse);
    case 'set_cursor':
      session.input.cursorHidden = action.set_cursor.hidden;
      return;
    case 'sleep':
      await sleep(action.sleep.duration_ms);
      return;
    default:
      return assertNever(action);
  }
}
