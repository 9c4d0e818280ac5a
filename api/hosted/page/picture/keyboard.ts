import type { FocusedControl } from '../../../../contract/screencast.ts';
import { h } from '../dom.ts';
import { words } from '../words.ts';
import type { HandAction } from '../../deps.ts';
import type { Send } from './sender.ts';

/** Stands in the empty field, so that phones have something to delete and tell of it. */
const FILLER = ' ';
/** Characters of one action. Some take two units of a string. */
const MAX_TEXT = 50;
/** The field is emptied when it holds so much, in characters. */
const MAX_HELD = 200;

/** Keys of a keyboard by the names that the page knows them under. What types or deletes is told by the field. */
const KEYS: Readonly<Record<string, Extract<HandAction, { do: 'key' }>['key']>> = {
  Enter: 'Return',
  Tab: 'Tab',
  Escape: 'Escape',
  ArrowLeft: 'Left',
  ArrowRight: 'Right',
  ArrowUp: 'Up',
  ArrowDown: 'Down',
};

const IS_IPHONE = CSS.supports('-webkit-touch-callout', 'none');

/** What a person types, on keys or on the keyboard of a phone. */
export interface Keyboard {
  field: HTMLInputElement;
  /** Takes the keys, as the picture is pressed at that height. A phone's keyboard waits for `follow`. */
  take(top: number, isTouch: boolean): void;
  /** Brings up the keyboard that fits what has the focus on the site's page, or puts it away. */
  follow(focus: FocusedControl): void;
  /** Brings up the keyboard whatever has the focus there. */
  open(): void;
}

/**
 * A field that nobody sees takes the focus, so that phones bring up their keyboard and input methods compose in it. What changes in
 * it is done on the site's page: the end that has gone is deleted there, the new one typed.
 */
export function createKeyboard(send: Send): Keyboard {
  const field = h('input', {
    class: 'picture-keys',
    type: 'text',
    inputmode: 'none',
    'aria-label': words.pictureKeysLabel,
    autocapitalize: 'off',
    autocomplete: 'off',
    autocorrect: 'off',
    spellcheck: 'false',
  });
  let held: string[] = [];
  const clear = (): void => {
    field.value = FILLER;
    held = Array.from(FILLER);
    field.setSelectionRange(FILLER.length, FILLER.length);
  };
  clear();

  /** Most phones bring up their keyboard for a field that gets the focus with it; iPhones take a change alone, and no focus unasked. */
  const bringUp = (inputMode: string, isAsked: boolean): void => {
    if (field.inputMode === inputMode && document.activeElement === field && !isAsked) return;
    field.inputMode = inputMode;
    if (IS_IPHONE && !isAsked) return;
    field.blur();
    field.focus({ preventScroll: true });
  };

  field.addEventListener('keydown', (event) => {
    // Shift and Tab lead out of the picture for those who have no mouse.
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || (event.key === 'Tab' && event.shiftKey))
      return;
    const key = KEYS[event.key];
    if (key === undefined) return;
    event.preventDefault();
    clear();
    send({ do: 'key', key });
  });
  field.addEventListener('input', (event) => {
    const now = Array.from(field.value);
    let same = 0;
    while (same < held.length && held[same] === now[same]) same += 1;
    for (let gone = held.length - same; gone > 0; gone -= 1) send({ do: 'key', key: 'BackSpace' });
    for (let at = same; at < now.length; at += MAX_TEXT)
      send({ do: 'type', text: now.slice(at, at + MAX_TEXT).join('') });
    held = now;
    const isComposing = event instanceof InputEvent && event.isComposing;
    if (!isComposing && (now.length === 0 || now.length > MAX_HELD)) clear();
  });
  // Nothing of it is kept, and what is typed next is typed elsewhere on the page.
  field.addEventListener('blur', clear);

  return {
    field,
    take(top, isTouch) {
      clear();
      // There the browser of a phone scrolls to, to keep it above its keyboard.
      field.style.top = `${String(Math.max(0, Math.round(top)))}px`;
      if (document.activeElement === field) return;
      if (isTouch) field.inputMode = 'none';
      field.focus({ preventScroll: true });
    },
    follow(focus) {
      // What is typed into a password field is no word for a phone to learn.
      field.type = focus.kind === 'text' && focus.secret ? 'password' : 'text';
      if (focus.kind === 'text') bringUp(focus.keyboard, false);
      else field.inputMode = 'none';
    },
    open: () => {
      bringUp('text', true);
      field.scrollIntoView({ block: 'nearest' });
    },
  };
}
