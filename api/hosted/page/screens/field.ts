import { assertNever } from '../../../../contract/assert-never.ts';
import { asksForCode } from '../../../../contract/code-fields.ts';
import type { FieldView } from '../../view.ts';
import { h, setAttributes, type Attributes } from '../dom.ts';
import { icon } from '../icons.ts';
import { fill, words } from '../words.ts';

/** An input with its label, hint and error. */
export interface FieldControl {
  readonly view: FieldView;
  readonly label: string;
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  /** The value to send. */
  value(): string;
  /** Shows an error beside the input; null removes it. */
  setError(message: string | null): void;
  /** Adds the id of an element elementId that explains the error. */
  addDescription(id: string): void;
}

/** Creates the control of a field. `initial` is only given for usernames, never for secrets. */
export function fieldControl(view: FieldView, index: number, initial: string): FieldControl {
  const id = `field-${index}`;
  const label = view.label?.trim() || DEFAULT_LABELS[view.type];
  const secret = view.type === 'password' || view.type === 'totp_secret';
  const input = h('input', { id, name: id, class: 'input', ...inputAttributes(view), required: view.required });
  input.value = initial;
  const hint = view.hint ? h('p', { class: 'hint', id: `${id}-hint`, dir: 'auto' }, view.hint) : null;
  const error = h('p', { class: 'field-error', id: `${id}-error`, hidden: true });
  let extraDescription: string | null = null;
  const describe = () => {
    const ids = [error.hidden ? null : error.id, extraDescription, hint?.id].filter(Boolean).join(' ');
    setAttributes(input, { 'aria-describedby': ids || null });
  };
  describe();

  const element = h(
    'div',
    { class: 'field' },
    h(
      'label',
      { for: id, class: 'label', dir: 'auto' },
      label,
      view.required ? null : h('span', { class: 'optional' }, ` (${words.optional})`),
    ),
    hint,
    view.picture === null ? null : h('img', { class: 'field-picture', src: view.picture, alt: words.fieldPicture }),
    h(
      'div',
      { class: secret ? 'input-row with-toggle' : 'input-row' },
      input,
      secret ? revealButton(input, label) : null,
    ),
    error,
    isDigitCode(view) && view.type === 'code' ? lettersButton(input) : null,
  );
  return {
    view,
    label,
    element,
    input,
    value: () => (secret ? input.value : normalize(view, input.value)),
    setError(message) {
      error.hidden = message === null;
      error.replaceChildren(...(message === null ? [] : [icon('alert'), h('span', { dir: 'auto' }, message)]));
      setAttributes(input, { 'aria-invalid': message === null && extraDescription === null ? null : 'true' });
      describe();
    },
    addDescription(elementId) {
      extraDescription = elementId;
      setAttributes(input, { 'aria-invalid': 'true' });
      describe();
    },
  };
}

const DEFAULT_LABELS: Record<FieldView['type'], string> = {
  identifier: words.labelIdentifier,
  password: words.labelPassword,
  code: words.labelCode,
  totp_code: words.labelTotpCode,
  totp_secret: words.labelTotpSecret,
  text: words.labelText,
};

/** Type, keyboard and autofill of a field. Never `type=number`, which drops leading zeros and scrolls. */
function inputAttributes(view: FieldView): Attributes {
  const plain = { autocapitalize: 'none', autocorrect: 'off', spellcheck: 'false', enterkeyhint: 'go' };
  switch (view.type) {
    case 'identifier': {
      const type = view.input === 'email' || view.input === 'tel' ? view.input : 'text';
      return { ...plain, type, inputmode: view.input === 'text' ? null : keyboard(view), autocomplete: 'username' };
    }
    case 'password':
      return { ...plain, type: 'password', autocomplete: 'current-password' };
    case 'code':
    case 'totp_code':
      return {
        ...plain,
        type: 'text',
        inputmode: isDigitCode(view) ? 'numeric' : 'text',
        autocomplete: 'one-time-code',
        class: 'input code',
      };
    case 'totp_secret':
      return { ...plain, type: 'password', autocomplete: 'off' };
    case 'text': {
      const type = view.input === 'email' || view.input === 'tel' || view.input === 'url' ? view.input : 'text';
      return { type, enterkeyhint: 'go', inputmode: keyboard(view), autocomplete: autocompleteOf(view) };
    }
    default:
      return assertNever(view.type);
  }
}

function keyboard(view: FieldView): string | null {
  const modes: Partial<Record<FieldView['input'], string>> = {
    email: 'email',
    tel: 'tel',
    number: 'numeric',
    url: 'url',
  };
  return modes[view.input] ?? null;
}

function autocompleteOf(view: FieldView): string {
  return view.input === 'email' || view.input === 'tel' ? view.input : 'off';
}

/** Codes are digits unless the site's text says otherwise: a numeric keyboard cannot enter letters. */
function isDigitCode(view: FieldView): boolean {
  if (view.type === 'totp_code') return true;
  if (view.type !== 'code' || view.input === 'text') return false;
  return !/letter|backup|recovery|alphanum|charact|buchstab|wiederherstell/i.test(
    `${view.label ?? ''} ${view.hint ?? ''}`,
  );
}

/** Removes separators from pasted codes such as `123 456`, and surrounding blanks from usernames. */
function normalize(view: FieldView, value: string): string {
  if (asksForCode(view.type)) {
    return /^[\d\s-]+$/.test(value) ? value.replace(/[\s-]/g, '') : value.trim();
  }
  return view.type === 'identifier' ? value.trim() : value;
}

function revealButton(input: HTMLInputElement, label: string): HTMLElement {
  const text = h('span', {}, words.showPassword);
  const button = h(
    'button',
    {
      type: 'button',
      class: 'reveal',
      'aria-pressed': 'false',
      'aria-label': fill(words.showPasswordOf, { label }),
      'aria-controls': input.id,
    },
    icon('eye'),
    text,
  );
  button.addEventListener('click', () => {
    const shown = input.type === 'password';
    input.type = shown ? 'text' : 'password';
    button.setAttribute('aria-pressed', String(shown));
    button.replaceChildren(icon(shown ? 'eyeOff' : 'eye'), text);
    text.textContent = shown ? words.hidePassword : words.showPassword;
  });
  return button;
}

function lettersButton(input: HTMLInputElement): HTMLElement {
  const button = h('button', { type: 'button', class: 'link-button' }, words.codeHasLetters);
  button.addEventListener('click', () => {
    input.inputMode = 'text';
    button.remove();
    input.focus();
  });
  return button;
}
