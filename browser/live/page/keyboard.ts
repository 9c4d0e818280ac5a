import type { ViewerMessage } from '../messages.ts';

/** Content of the empty field, so that phones report a Backspace. */
const FILLER = ' ';
/** Maximum text per message, in characters. */
const MAX_TEXT = 10_000;
/** Keys of input methods and on-screen keyboards, whose input arrives later as text. */
const COMPOSING_KEYS = new Set(['Process', 'Unidentified', 'Dead', 'Compose']);

/**
 * Sends keys one by one, and input of input methods, on-screen keyboards and the clipboard as text. Ctrl+Alt+Q releases the
 * keyboard.
 */
export function captureKeyboard(field: HTMLTextAreaElement, send: (message: ViewerMessage) => void): void {
  const clear = (): void => {
    field.value = FILLER;
    field.setSelectionRange(FILLER.length, FILLER.length);
  };
  const sendText = (text: string): void => {
    for (let at = 0; at < text.length; at += MAX_TEXT) send({ type: 'text', text: text.slice(at, at + MAX_TEXT) });
  };
  const tap = (key: string): void => {
    send({ type: 'keydown', key, modifiers: 0 });
    send({ type: 'keyup', key, modifiers: 0 });
  };
  const forward = (type: 'keydown' | 'keyup', event: KeyboardEvent): void => {
    if (event.isComposing || COMPOSING_KEYS.has(event.key) || isPaste(event)) return;
    event.preventDefault();
    send({ type, key: keyNameOf(event), modifiers: modifiersOf(event) });
  };
  clear();
  field.addEventListener('focus', clear);

  field.addEventListener('keydown', (event) => {
    if (event.ctrlKey && event.altKey && event.code === 'KeyQ') {
      event.preventDefault();
      field.blur();
      return;
    }
    forward('keydown', event);
  });
  field.addEventListener('keyup', (event) => forward('keyup', event));
  field.addEventListener('paste', (event) => {
    event.preventDefault();
    sendText(event.clipboardData?.getData('text/plain') ?? '');
  });
  field.addEventListener('beforeinput', (event) => {
    if (event.inputType === 'deleteContentBackward') tap('Backspace');
    else if (event.inputType === 'insertLineBreak' || event.inputType === 'insertParagraph') tap('Enter');
    else return;
    event.preventDefault();
    clear();
  });
  field.addEventListener('input', (event) => {
    if (event instanceof InputEvent && event.isComposing) return;
    sendText(field.value.startsWith(FILLER) ? field.value.slice(FILLER.length) : field.value);
    clear();
  });
  field.addEventListener('compositionend', ({ data }) => {
    sendText(data);
    clear();
  });
}

function isPaste(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'v';
}

/** On a Mac, the command key stands for Ctrl in the shown browser. */
const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** The modifier keys of an event as CDP's bits: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift. */
export function modifiersOf(event: MouseEvent | KeyboardEvent | TouchEvent): number {
  const ctrl = event.ctrlKey || (IS_MAC && event.metaKey);
  const meta = event.metaKey && !IS_MAC;
  return (event.altKey ? 1 : 0) | (ctrl ? 2 : 0) | (meta ? 4 : 0) | (event.shiftKey ? 8 : 0);
}

/** The name of an event's key for the shown browser. */
function keyNameOf(event: KeyboardEvent): string {
  return event.key === 'Meta' && IS_MAC ? 'Control' : event.key;
}
