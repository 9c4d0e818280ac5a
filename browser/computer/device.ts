import type { ClickMouse } from '../../contract/computer.ts';
import type { Point } from './curve.ts';
import type { KeyDefinition } from './keys.ts';

export type Button = ClickMouse['button'];

/**
 * Mouse and keyboard of one page. Each call resolves when the input is on its way to the page in order; points are CSS
 * pixels of the viewport, modifiers the bit field that the keyboard stands at.
 */
export interface InputDevice {
  /** Whether events arrive in their order although none waits for the one before. */
  readonly keepsOrder: boolean;
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
