import type { CdpCommand, CdpParams } from '../cdp/connection.ts';
import { CdpError } from '../cdp/connection.ts';
import type { Page } from '../chromium/pages.ts';
import type { Session } from '../session/session.ts';
import type { Button, InputDevice } from './device.ts';
import { toHoldfastError, pageCrashed } from './errors.ts';
import type { KeyDefinition } from './keys.ts';

type InputCommand = Extract<CdpCommand, 'Input.dispatchMouseEvent' | 'Input.dispatchKeyEvent' | 'Input.insertText'>;

type InputSession = Pick<Session, 'input'> & { chromium: Pick<Session['chromium'], 'cdp' | 'pages'> };

type MouseParams = CdpParams<'Input.dispatchMouseEvent'>;

/** Pixels per notch of the wheel. */
const NOTCH_PX = 120;
/** Alt, Ctrl and Meta turn a character key into a command that types nothing. */
const COMMAND_MODIFIERS = 1 | 2 | 4;
/** Bits of the protocol's `buttons` field. */
export const BUTTON_BITS: Record<Button, number> = { left: 1, right: 2, middle: 4, back: 8, forward: 16 };

/** Input through CDP: each call resolves when the page has handled it. */
export function createCdpDevice(session: InputSession, page: Page): InputDevice {
  const { cdp, pages } = session.chromium;

  /** The page has let an event time out. */
  let unresponsive = false;

  /** Events that open a dialog, close the page or coincide with a navigation may never be acknowledged; they count as handled. */
  const dispatch = async <M extends InputCommand>(method: M, params: CdpParams<M>): Promise<void> => {
    const interruption = pages.interrupted(page);
    try {
      const dispatched = cdp.send<CdpCommand>(method, params, page.sessionId).then(() => null);
      dispatched.catch(() => undefined);
      // Keys and buttons must still be released, but a hanging page is waited for only once.
      if (unresponsive) return;
      const why = await Promise.race([dispatched, interruption.promise]);
      if (why === 'crashed') throw pageCrashed();
    } catch (error) {
      unresponsive = error instanceof CdpError && error.reason === 'timeout';
      if (pages.active() === page) throw toHoldfastError(error);
    } finally {
      interruption.stop();
    }
  };
  const mouse = (event: Pick<MouseParams, 'type' | 'modifiers'> & Partial<MouseParams>) => {
    const { x, y, buttons } = session.input;
    return dispatch('Input.dispatchMouseEvent', { x, y, buttons, pointerType: 'mouse', ...event });
  };

  return {
    isOrdered: true,
    move: ({ x, y }, modifiers) => {
      const { buttons } = session.input;
      return mouse({ type: 'mouseMoved', x, y, button: buttons === 0 ? 'none' : heldButton(buttons), modifiers });
    },
    press: (button, clickCount, modifiers) => mouse({ type: 'mousePressed', button, clickCount, modifiers }),
    release: (button, clickCount, modifiers) => mouse({ type: 'mouseReleased', button, clickCount, modifiers }),
    wheel: ({ x, y }, modifiers) =>
      mouse({ type: 'mouseWheel', deltaX: x * NOTCH_PX, deltaY: y * NOTCH_PX, modifiers }),
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
