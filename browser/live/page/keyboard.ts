import type { ViewerMessage } from '../messages.ts';

/** Stands in the empty field, so that phones have something to delete and tell of it. */
const FILLER = ' ';
/** Longest text of one message, in characters. */
const MAX_TEXT = 10_000;
/** Keys whose meaning comes later, as text: an input method is at work, or an on-screen keyboard. */
const UNREADABLE = new Set(['Process', 'Unidentified', 'Dead', 'Compose']);

/**
 * Keys go to the browser one by one; what an input method, an on-screen keyboard or the clipboard enters goes as text.
 * Ctrl+Alt+Q gives the keyboard back to the page around the picture.
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
  clear();
  field.addEventListener('focus', clear);

  field.addEventListener('keydown', (event) => {
    if (event.ctrlKey && event.altKey && event.code === 'KeyQ') {
      event.preventDefault();
      field.blur();
      return;
    }
    if (event.isComposing || UNREADABLE.has(event.key) || isPaste(event)) return;
    event.preventDefault();
    send({ type: 'keydown', key: keyNameOf(event), modifiers: modifiersOf(event) });
  });
  field.addEventListener('keyup', (event) => {
    if (event.isComposing || UNREADABLE.has(event.key) || isPaste(event)) return;
    event.preventDefault();
    send({ type: 'keyup', key: keyNameOf(event), modifiers: modifiersOf(event) });
  });
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

/** On a Mac the command key does what Ctrl does in the browser that is shown. */
const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** The modifier keys of an event as the protocol counts them: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift. */
export function modifiersOf(event: MouseEvent | KeyboardEvent | TouchEvent): number {
  const ctrl = event.ctrlKey || (IS_MAC && event.metaKey);
  const meta = event.metaKey && !IS_MAC;
  return (event.altKey ? 1 : 0) | (ctrl ? 2 : 0) | (meta ? 4 : 0) | (event.shiftKey ? 8 : 0);
}

/** The name of an event's key, as the shown browser is to see it. */
function keyNameOf(event: KeyboardEvent): string {
  return event.key === 'Meta' && IS_MAC ? 'Control' : event.key;
}
