import type { Page } from '../chromium/pages.ts';
import type { XInput } from './x-input.ts';

/** Where the mouse is and which of its buttons are down, in a session. */
export interface InputState {
  x: number;
  y: number;
  /** Bit field of buttons that are down, as the protocol counts them. */
  buttons: number;
  cursorHidden: boolean;
  /** Mouse and keyboard of its display, once they were used; null where they cannot be. */
  display: Promise<XInput | null> | null;
  /** The page that input of the display is on its way to. */
  unsettled: Page | null;
}

/** A mouse that has not moved yet. */
export function createInputState(): InputState {
  return { x: 0, y: 0, buttons: 0, cursorHidden: false, display: null, unsettled: null };
}
