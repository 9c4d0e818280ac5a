import type { CdpCommand, CdpParams } from '../cdp/connection.ts';
import { CdpError } from '../cdp/connection.ts';
import type { Page } from '../chromium/pages.ts';
import type { Session } from '../session/session.ts';
import type { Button, InputDevice } from './device.ts';
import { toHoldfastError, pageCrashed } from './errors.ts';
import type { KeyDefinition } from './keys.ts';

type InputCommand = Extract<CdpCommand, 'Input.dispatchMouseEvent' | 'Input.dispatchKeyEvent' | 'Input.insertText'>;

/** What it needs of a session. */
type InputSession = Pick<Session, 'input'> & { chromium: Pick<Session['chromium'], 'cdp' | 'pages'> };

/** Pixels that one notch of a wheel scrolls. */
const NOTCH_PX = 120;
/** Alt, Ctrl and Meta turn a character key into a command: nothing is typed then. */
const COMMAND_MODIFIERS = 1 | 2 | 4;
/** Bits of the protocol's `buttons` field. */
export const BUTTON_BITS: Record<Button, number> = { left: 1, right: 2, middle: 4, back: 8, forward: 16 };

/** Input through the browser's protocol: each call resolves when the page has handled it. */
export function createCdpDevice(session: InputSession, page: Page): InputDevice {
  const { cdp, pages } = session.chromium;

  /** It has left an event unanswered for as long as any may take. */
  let silent = false;

  /**
   * An event that opens a dialog, closes the page or is on its way while another document comes may never be acknowledged:
   * that counts as handled, and nothing is sent twice.
   */
  const dispatch = async <M extends InputCommand>(method: M, params: CdpParams<M>): Promise<void> => {
    const interruption = pages.interrupted(page);
    try {
      const dispatched = cdp.send<CdpCommand>(method, params, page.sessionId).then(() => null);
      dispatched.catch(() => undefined);
      // What is held is let go all the same, but a page that hangs is waited for once.
      if (silent) return;
      const why = await Promise.race([dispatched, interruption.promise]);
      if (why === 'crashed') throw pageCrashed();
    } catch (error) {
      silent = error instanceof CdpError && error.reason === 'timeout';
      if (pages.active() === page) throw toHoldfastError(error);
    } finally {
      interruption.stop();
    }
  };
  const press = (type: 'mousePressed' | 'mouseReleased', button: Button, clickCount: number, modifiers: number) => {
    const { x, y, buttons } = session.input;
    return dispatch('Input.dispatchMouseEvent', {
      type,
      x,
      y,
      button,
      buttons,
      clickCount,
      modifiers,
      pointerType: 'mouse',
    });
  };

  return {
    isOrdered: true,
    move: ({ x, y }, modifiers) => {
      const { buttons } = session.input;
      const button = buttons === 0 ? 'none' : heldButton(buttons);
      return dispatch('Input.dispatchMouseEvent', {
        type: 'mouseMoved',
        x,
        y,
        button,
        buttons,
        modifiers,
        pointerType: 'mouse',
      });
    },
    press: (button, clickCount, modifiers) => press('mousePressed', button, clickCount, modifiers),
    release: (button, clickCount, modifiers) => press('mouseReleased', button, clickCount, modifiers),
    wheel: (notches, modifiers) => {
      const { x, y } = session.input;
      return dispatch('Input.dispatchMouseEvent', {
        type: 'mouseWheel',
        x,
        y,
        deltaX: notches.x * NOTCH_PX,
        deltaY: notches.y * NOTCH_PX,
        modifiers,
        pointerType: 'mouse',
      });
    },
    keyDown: (definition, modifiers) => {
      const text = (modifiers & COMMAND_MODIFIERS) === 0 ? definition.text : undefined;
      return dispatch('Input.dispatchKeyEvent', {
        type: text === undefined ? 'rawKeyDown' : 'keyDown',
        ...keyParameters(definition, modifiers),
        ...(text === undefined ? {} : { text, unmodifiedText: text }),
      });
    },
    keyUp: (definition, modifiers) =>
      dispatch('Input.dispatchKeyEvent', { type: 'keyUp', ...keyParameters(definition, modifiers) }),
    insertText: (text) => dispatch('Input.insertText', { text }),
  };
}

function keyParameters(definition: KeyDefinition, modifiers: number) {
  const { key, code, keyCode, location = 0 } = definition;
  return { key, code, windowsVirtualKeyCode: keyCode, location, isKeypad: location === 3, modifiers };
}

function heldButton(buttons: number): Button {
  return (Object.keys(BUTTON_BITS) as Button[]).find((button) => (buttons & BUTTON_BITS[button]) !== 0) ?? 'left';
}
