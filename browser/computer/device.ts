import type { ClickMouse } from '../../contract/computer.ts';
import type { Page } from '../chromium/pages.ts';
import type { Point } from './mouse-path.ts';
import type { KeyDefinition } from './keys.ts';
import type { XInput } from './x-input.ts';

export type Button = ClickMouse['button'];

/** Mouse and keyboard of one page. Points are in CSS pixels of the viewport; modifiers are CDP's bit field. */
export interface InputDevice {
  /** Whether events stay in order without awaiting each. */
  readonly isOrdered: boolean;
  move(point: Point, modifiers: number): Promise<void>;
  /** `clickCount` is 2 for the second press of a double click. */
  press(button: Button, clickCount: number, modifiers: number): Promise<void>;
  release(button: Button, clickCount: number, modifiers: number): Promise<void>;
  /** Notches of a wheel; positive is right and down. */
  wheel(notches: Point, modifiers: number): Promise<void>;
  keyDown(definition: KeyDefinition, modifiers: number): Promise<void>;
  keyUp(definition: KeyDefinition, modifiers: number): Promise<void>;
  /** Inserts text like an input method, without key events. */
  insertText(text: string): Promise<void>;
}

/** State of a session's mouse and keyboard. */
export interface InputState {
  x: number;
  y: number;
  /** Pressed buttons, as CDP's bit field. */
  buttons: number;
  cursorHidden: boolean;
  /** Target id of the page that the current action is meant for; null for the active page. */
  requiredPageId: string | null;
  /** Input of its X display, once used; resolves to null without xdotool. */
  display: Promise<XInput | null> | null;
  /** The page that may not have received the display's input yet. */
  unsettled: Page | null;
}

/** The initial state. */
export function createInputState(): InputState {
  return { x: 0, y: 0, buttons: 0, cursorHidden: false, requiredPageId: null, display: null, unsettled: null };
}
