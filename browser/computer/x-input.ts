import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Keys whose keysym is their `KeyboardEvent.code`, or its lower case. */
const SAME_NAME = new Set(['Tab', 'Escape', 'Delete', 'Insert', 'Home', 'End', 'Pause']);
const LOWER_CASE = new Set([
  ...['Minus', 'Equal', 'BracketLeft', 'BracketRight', 'Backslash', 'Semicolon', 'Comma', 'Period', 'Slash', 'Space'],
]);
/** Other keysyms of a US keyboard, as typed without Shift, by `KeyboardEvent.code`. */
const KEYSYMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Backquote: 'grave',
    Quote: 'apostrophe',
    Enter: 'Return',
    NumpadEnter: 'KP_Enter',
    Backspace: 'BackSpace',
    PageUp: 'Prior',
    PageDown: 'Next',
    MetaLeft: 'Super_L',
    MetaRight: 'Super_R',
    CapsLock: 'Caps_Lock',
    ContextMenu: 'Menu',
    PrintScreen: 'Print',
  }),
);

/** The X server's name of a key; undefined if its keyboard lacks it. */
export function keysymOf(code: string): string | undefined {
  if (SAME_NAME.has(code) || /^F\d{1,2}$/.test(code)) return code;
  if (LOWER_CASE.has(code)) return code.toLowerCase();
  const [, letter, digit, direction, modifier, side] =
    /^(?:Key([A-Z])|Digit(\d)|Arrow(Left|Right|Up|Down)|(Shift|Control|Alt)(L|R)(?:eft|ight))$/.exec(code) ?? [];
  if (modifier !== undefined) return `${modifier}_${side ?? ''}`;
  return letter?.toLowerCase() ?? digit ?? direction ?? KEYSYMS.get(code);
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
