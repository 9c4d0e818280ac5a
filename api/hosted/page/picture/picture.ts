import { h } from '../dom.ts';
import { words } from '../words.ts';
import { capturePointer } from './pointer.ts';
import { createKeyboard } from './keyboard.ts';
import { createPicker } from './picker.ts';
import { createSender } from './sender.ts';
import { drawWhileShown } from './stream.ts';
import { createView } from './view.ts';

/**
 * The site's page as a picture that a person acts on, by touch, mouse and keyboard. It is drawn anew for as long as it is on the
 * screen; nothing of it, and nothing that is typed, is kept.
 */
export function pagePicture(): HTMLElement {
  const view = createView();
  const send = createSender((focus) => {
    keyboard.follow(focus);
    picker.show(focus);
  });
  const keyboard = createKeyboard(send);
  const picker = createPicker(send);
  view.stage.append(keyboard.field);
  capturePointer(view, keyboard, send);
  void drawWhileShown(view);
  const typing = h('button', { type: 'button', class: 'picture-button' }, words.pictureKeyboard);
  typing.addEventListener('click', () => keyboard.open());
  const zoom = h('button', { type: 'button', class: 'picture-button', 'aria-pressed': 'false' }, words.pictureLarger);
  zoom.addEventListener('click', () => {
    const isLarger = view.enlarge();
    zoom.setAttribute('aria-pressed', String(isLarger));
  });
  return h(
    'div',
    { class: 'picture-frame' },
    view.stage,
    h('div', { class: 'picture-bar' }, zoom, typing),
    picker.element,
    h('p', { class: 'lead' }, words.pictureHint),
  );
}
