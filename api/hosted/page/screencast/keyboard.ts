import type { FocusedControl } from '../../../../contract/screencast.ts';
import { h } from '../dom.ts';
import { words } from '../words.ts';
import type { InputAction } from '../../deps.ts';
import type { Send } from './sender.ts';

/** Content of the empty field, so that phones have something to delete and report it. */
const FILLER = ' ';
/** Maximum characters of one action; some take two UTF-16 units. */
const MAX_TEXT = 50;
/** The field is cleared when it holds this many characters. */
const MAX_TYPED = 200;

/** Names of special keys by their DOM key. Typing and deleting are detected from the field's content. */
const KEYS: Readonly<Record<string, Extract<InputAction, { do: 'key' }>['key']>> = {
  Enter: 'Return',
  Tab: 'Tab',
  Escape: 'Escape',
  ArrowLeft: 'Left',
  ArrowRight: 'Right',
  ArrowUp: 'Up',
  ArrowDown: 'Down',
};

const IS_IPHONE = CSS.supports('-webkit-touch-callout', 'none');

/** Captures typing on hardware and on-screen keyboards. */
export interface Keyboard {
  field: HTMLInputElement;
  /** Focuses the field where the screencast was pressed (height in pixels). On-screen keyboards wait for `update`. */
  focusAt(top: number, isTouch: boolean): void;
  /** Shows the keyboard that fits the focused control of the site's page, or hides it. */
  update(focus: FocusedControl): void;
  /** Shows the keyboard regardless of the focused control. */
  open(): void;
}

/**
 * An invisible input takes the focus, so that phones show their keyboard and input methods can compose in it. Changes to its
 * content are replayed on the site's page: the removed tail is deleted, the new one typed.
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
  let typed: string[] = [];
  const clear = (): void => {
    field.value = FILLER;
    typed = Array.from(FILLER);
    field.setSelectionRange(FILLER.length, FILLER.length);
  };
  clear();

  /**
   * Most phones show the keyboard that matches the field when it gets the focus; iPhones only when its input mode changes, and
   * never unprompted.
   */
  const showKeyboard = (inputMode: string, isAsked: boolean): void => {
    if (field.inputMode === inputMode && document.activeElement === field && !isAsked) return;
    field.inputMode = inputMode;
    if (IS_IPHONE && !isAsked) return;
    field.blur();
    field.focus({ preventScroll: true });
  };

  field.addEventListener('keydown', (event) => {
    // Shift+Tab leaves the screencast, for people without a mouse.
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
    let unchanged = 0;
    while (unchanged < typed.length && typed[unchanged] === now[unchanged]) unchanged += 1;
    for (let deletions = typed.length - unchanged; deletions > 0; deletions -= 1) send({ do: 'key', key: 'BackSpace' });
    for (let at = unchanged; at < now.length; at += MAX_TEXT)
      send({ do: 'type', text: now.slice(at, at + MAX_TEXT).join('') });
    typed = now;
    const isComposing = event instanceof InputEvent && event.isComposing;
    if (!isComposing && (now.length === 0 || now.length > MAX_TYPED)) clear();
  });
  // Keep nothing; what is typed next goes elsewhere on the page.
  field.addEventListener('blur', clear);

  return {
    field,
    focusAt(top, isTouch) {
      clear();
      // Phones scroll to this position to keep it above their keyboard.
      field.style.top = `${String(Math.max(0, Math.round(top)))}px`;
      if (document.activeElement === field) return;
      if (isTouch) field.inputMode = 'none';
      field.focus({ preventScroll: true });
    },
    update(focus) {
      // Phones must not learn what is typed into a password field.
      field.type = focus.kind === 'text' && focus.secret ? 'password' : 'text';
      if (focus.kind === 'text') showKeyboard(focus.keyboard, false);
      else field.inputMode = 'none';
    },
    open: () => {
      showKeyboard('text', true);
      field.scrollIntoView({ block: 'nearest' });
    },
  };
}
