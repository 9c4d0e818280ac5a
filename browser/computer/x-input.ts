import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * Keys of a US keyboard by `KeyboardEvent.code`, as the X server names what they type without Shift (keysyms). Letters,
 * digits and function keys follow a rule.
 */
const KEYSYMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Backquote: 'grave',
    Minus: 'minus',
    Equal: 'equal',
    BracketLeft: 'bracketleft',
    BracketRight: 'bracketright',
    Backslash: 'backslash',
    Semicolon: 'semicolon',
    Quote: 'apostrophe',
    Comma: 'comma',
    Period: 'period',
    Slash: 'slash',
    Space: 'space',
    Enter: 'Return',
    NumpadEnter: 'KP_Enter',
    Tab: 'Tab',
    Backspace: 'BackSpace',
    Escape: 'Escape',
    Delete: 'Delete',
    Insert: 'Insert',
    Home: 'Home',
    End: 'End',
    PageUp: 'Prior',
    PageDown: 'Next',
    ArrowLeft: 'Left',
    ArrowUp: 'Up',
    ArrowRight: 'Right',
    ArrowDown: 'Down',
    ShiftLeft: 'Shift_L',
    ShiftRight: 'Shift_R',
    ControlLeft: 'Control_L',
    ControlRight: 'Control_R',
    AltLeft: 'Alt_L',
    AltRight: 'Alt_R',
    MetaLeft: 'Super_L',
    MetaRight: 'Super_R',
    CapsLock: 'Caps_Lock',
    ContextMenu: 'Menu',
    Pause: 'Pause',
    PrintScreen: 'Print',
  }),
);

/** The X server's name of a key; undefined if its keyboard lacks it. */
export function keysymOf(code: string): string | undefined {
  const simple = /^(?:Key([A-Z])|Digit(\d)|(F\d{1,2}))$/.exec(code);
  return simple === null ? KEYSYMS.get(code) : (simple[1]?.toLowerCase() ?? simple[2] ?? simple[3]);
}

/** Mouse and keyboard of one X display. */
export interface XInput {
  /** Runs xdotool commands in order; resolves when the X server has handled them, rejects if it has exited. */
  run(commands: string): Promise<void>;
  close(): void;
}

/** Starts xdotool for a display; it runs until it is closed or the display exits. */
export async function openXInput(display: string): Promise<XInput> {
  const child = spawn('xdotool', ['-'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], DISPLAY: display },
  });
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  let ended = false;
  const end = (): void => {
    ended = true;
    for (const { reject } of waiting.splice(0)) reject(new Error('The display has exited'));
  };
  child.once('error', end);
  child.once('exit', end);
  // A broken pipe is handled by the exit of the program.
  child.stdin.on('error', () => undefined);
  // `getmouselocation` prints a line once the commands before it are done.
  createInterface(child.stdout).on('line', () => waiting.shift()?.resolve());
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  return {
    run: (commands) =>
      new Promise((resolve, reject) => {
        if (ended) {
          reject(new Error('The display has exited'));
          return;
        }
        waiting.push({ resolve, reject });
        child.stdin.write(`${commands}\ngetmouselocation\n`);
      }),
    close: () => {
      child.kill('SIGTERM');
    },
  };
}
