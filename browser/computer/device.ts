import type { ClickMouse } from '../../contract/computer.ts';
import type { Page } from '../chromium/pages.ts';
import type { Point } from './mouse-path.ts';
import type { KeyDefinition } from './keys.ts';
import type { XInput } from './x-input.ts';

export type Button = ClickMouse['button'];

/**
 * Mouse and keyboard of one page. Each call resolves when the input is on its way to the page in order; points are CSS
 * pixels of the viewport, modifiers the bit field that the keyboard stands at.
 */
export interface InputDevice {
  /** Whether events arrive in their order although none waits for the one before. */
  readonly isOrdered: boolean;
  move(point: Point, modifiers: number): Promise<void>;
  /** `clickCount` is 2 for the second press of a double click. */
  press(button: Button, clickCount: number, modifiers: number): Promise<void>;
  release(button: Button, clickCount: number, modifiers: number): Promise<void>;
  /** Notches of a wheel; positive is right and down. */
  wheel(notches: Point, modifiers: number): Promise<void>;
  keyDown(definition: KeyDefinition, modifiers: number): Promise<void>;
  keyUp(definition: KeyDefinition, modifiers: number): Promise<void>;
  /** Enters text as an input method does: no key events. */
  insertText(text: string): Promise<void>;
}

/** Where the mouse is and which of its buttons are down, in a session. */
export interface InputState {
  x: number;
  y: number;
  /** Bit field of buttons that are down, as the protocol counts them. */
  buttons: number;
  cursorHidden: boolean;
  /** Target id of the one page that the action under way is meant for; null when it is for whichever is in front. */
  requiredPageId: string | null;
  /** Mouse and keyboard of its display, once they were used; null where they cannot be. */
  display: Promise<XInput | null> | null;
  /** The page that input of the display is on its way to. */
  unsettled: Page | null;
}

/** A mouse that has not moved yet. */
export function createInputState(): InputState {
  return { x: 0, y: 0, buttons: 0, cursorHidden: false, requiredPageId: null, display: null, unsettled: null };
}
