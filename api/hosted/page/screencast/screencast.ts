import type { ScreencastFrame } from '../../../../contract/screencast.ts';
import { createWatchdog, openStream, readEvents } from '../calls.ts';
import { h } from '../dom.ts';
import { words } from '../words.ts';
import { capturePointer } from './pointer.ts';
import { createKeyboard } from './keyboard.ts';
import { createPicker } from './picker.ts';
import { createSender } from './sender.ts';
import { createView, type View } from './view.ts';

/** Delay before a screencast that has ended is reopened, in milliseconds. */
const RETRY_AFTER_MS = 2_000;

/**
 * A live view of the site's page that a person controls by touch, mouse and keyboard. It updates for as long as it is shown;
 * neither frames nor typed text are kept.
 */
export function createScreencast(): HTMLElement {
  const view = createView();
  const send = createSender((focus) => {
    keyboard.update(focus);
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

/** Draws the frames for as long as the view is in the document and the tab is visible. */
async function drawWhileShown(view: View): Promise<void> {
  let wasShown = false;
  // It is created before it is attached to the document.
  const isRemoved = (): boolean => wasShown && !view.stage.isConnected;
  for (;;) {
    wasShown ||= view.stage.isConnected;
    if (isRemoved()) return;
    if (document.visibilityState === 'visible') await drawOnce(view, isRemoved).catch(() => undefined);
    await waitUntilVisible(RETRY_AFTER_MS);
  }
}

async function drawOnce(view: View, isRemoved: () => boolean): Promise<void> {
  const ended = new AbortController();
  const watchdog = createWatchdog(() => ended.abort());
  // Stop the capture for hidden tabs and finished steps.
  const onHidden = (): void => {
    if (document.visibilityState !== 'visible') ended.abort();
  };
  const removal = new MutationObserver(() => {
    if (isRemoved()) ended.abort();
  });
  document.addEventListener('visibilitychange', onHidden);
  removal.observe(document.body, { childList: true, subtree: true });
  try {
    const response = await openStream('picture', {}, ended.signal);
    if (!response.ok) return;
    await readEvents(response, watchdog.feed, ({ event, data }) => {
      // Trusted: our own server shares the type.
      if (event === 'frame') void view.draw(JSON.parse(data) as ScreencastFrame).catch(() => undefined);
    });
  } finally {
    document.removeEventListener('visibilitychange', onHidden);
    removal.disconnect();
    watchdog.stop();
    ended.abort();
  }
}

/** Waits for `ms`, and then until the tab is visible. */
function waitUntilVisible(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.visibilityState !== 'visible') return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    setTimeout(() => {
      document.addEventListener('visibilitychange', look);
      look();
    }, ms);
  });
}
