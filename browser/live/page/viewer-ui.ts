import type { ViewMessage } from '../messages.ts';
import type { ConnectionState } from './connection.ts';

/** The viewer's elements. Site-controlled strings are only set as text. */
export interface ViewerUi {
  canvas: HTMLCanvasElement;
  /** Receives key events; phones show their keyboard for it. */
  keyboard: HTMLTextAreaElement;
  show(message: ViewMessage): void;
  showCanvas(): void;
  setState(state: ConnectionState): void;
  /** Calls back when the viewer answers a dialog. */
  onAnswer(listener: (accept: boolean, text: string | undefined) => void): void;
}

const STATE_TEXT: Record<ConnectionState, string> = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'Connection lost. Request a new link.',
  ended: 'The session has ended.',
};

/** Builds the viewer's elements in `body`. */
export function buildViewerUi(body: HTMLElement): ViewerUi {
  const state = element('span', 'state', 'Connecting…');
  state.setAttribute('role', 'status');
  const title = element('strong', 'title');
  const address = element('span', 'address');
  const typing = element('button', 'typing', 'Keyboard');
  typing.type = 'button';
  const bar = element('header', 'bar');
  bar.append(state, title, address, typing);

  const canvas = element('canvas', 'picture');
  canvas.hidden = true;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', 'Live view of the browser. Click, tap or type to use it.');
  const notice = element('p', 'notice', 'Waiting for the browser…');
  const keyboard = element('textarea', 'keyboard');
  keyboard.setAttribute('aria-label', 'Keyboard input for the browser. Press Ctrl+Alt+Q to release the keyboard.');
  const offAttributes = { autocapitalize: 'off', autocomplete: 'off', autocorrect: 'off', spellcheck: 'false' };
  for (const [name, value] of Object.entries(offAttributes)) keyboard.setAttribute(name, value);
  const stage = element('main', 'stage');
  stage.append(canvas, notice, keyboard);

  const text = element('p', 'words');
  text.id = 'words';
  const entry = element('input', 'entry');
  entry.setAttribute('aria-labelledby', 'words');
  const accept = element('button', 'accept', 'OK');
  const dismiss = element('button', 'dismiss', 'Cancel');
  dismiss.type = 'button';
  const form = element('form', 'dialog');
  form.setAttribute('role', 'alertdialog');
  form.setAttribute('aria-labelledby', 'words');
  form.hidden = true;
  form.append(text, entry, dismiss, accept);
  body.append(bar, stage, form);

  const setNotice = (text: string): void => {
    notice.textContent = text;
    notice.hidden = text === '';
  };
  const showDialog = (dialog: Extract<ViewMessage, { type: 'page' }>['dialog']): void => {
    const opens = form.hidden && dialog !== null;
    form.hidden = dialog === null;
    if (dialog === null || !opens) return;
    text.textContent = dialog.kind === 'beforeunload' ? 'Leave this page? Changes may be lost.' : dialog.message;
    entry.hidden = dialog.kind !== 'prompt';
    entry.value = dialog.defaultPrompt;
    dismiss.hidden = dialog.kind === 'alert';
    (entry.hidden ? accept : entry).focus();
  };
  typing.addEventListener('click', () => keyboard.focus());

  return {
    canvas,
    keyboard,
    show: (message) => {
      if (message.type === 'ended') return;
      if (message.type === 'blank') {
        setNotice('All pages of the browser are closed.');
        canvas.hidden = true;
        return;
      }
      title.textContent = message.title;
      address.textContent = message.url;
      address.title = message.url;
      document.title = `${message.title === '' ? 'Live view' : message.title} · Holdfast`;
      showDialog(message.dialog);
    },
    showCanvas: () => {
      canvas.hidden = false;
      setNotice('');
    },
    setState: (value) => {
      state.textContent = STATE_TEXT[value];
      state.dataset['state'] = value;
      if (value === 'lost' || value === 'ended') form.hidden = true;
      body.dataset['state'] = value;
    },
    onAnswer: (listener) => {
      form.addEventListener('submit', (event) => {
        event.preventDefault();
        form.hidden = true;
        listener(true, entry.hidden ? undefined : entry.value);
      });
      dismiss.addEventListener('click', () => {
        form.hidden = true;
        listener(false, undefined);
      });
    },
  };
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  text = '',
): HTMLElementTagNameMap[K] {
  const created = document.createElement(name);
  created.className = className;
  created.textContent = text;
  return created;
}
