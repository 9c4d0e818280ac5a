/** Where the mouse is and which of its buttons are down, in a session. */
export interface InputState {
  x: number;
  y: number;
  /** Bit field of buttons that are down, as the protocol counts them. */
  buttons: number;
  cursorHidden: boolean;
}

/** A mouse that has not moved yet. */
export function createInputState(): InputState {
  return { x: 0, y: 0, buttons: 0, cursorHidden: false };
}
