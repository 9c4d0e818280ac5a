import type { ScreencastFrame } from '../../../../contract/screencast.ts';
import { openStream } from '../calls.ts';
import { createWatchdog, readEvents } from '../event-reader.ts';
import type { View } from './view.ts';

/** Pause before pictures that have ended are asked for again, in milliseconds. */
const RETRY_AFTER_MS = 2_000;
/** Longest silence of a stream before it counts as dead, in milliseconds: the server speaks every 15 s. */
const SILENCE_MS = 40_000;

/** Draws every picture of the page, while the view is in the document and somebody can see it. */
export async function drawWhileShown(view: View): Promise<void> {
  let wasShown = false;
  // It is made before it is put on the screen.
  const isOver = (): boolean => wasShown && !view.stage.isConnected;
  for (;;) {
    wasShown ||= view.stage.isConnected;
    if (isOver()) return;
    if (document.visibilityState === 'visible') await drawOnce(view, isOver).catch(() => undefined);
    await untilVisible(RETRY_AFTER_MS);
  }
}

async function drawOnce(view: View, isOver: () => boolean): Promise<void> {
  const ended = new AbortController();
  const watchdog = createWatchdog(SILENCE_MS, () => ended.abort());
  // Nothing is captured for a tab that nobody sees, or a step that is over.
  const onHidden = (): void => {
    if (document.visibilityState !== 'visible') ended.abort();
  };
  const removal = new MutationObserver(() => {
    if (isOver()) ended.abort();
  });
  document.addEventListener('visibilitychange', onHidden);
  removal.observe(document.body, { childList: true, subtree: true });
  try {
    const response = await openStream('picture', {}, ended.signal);
    if (!response.ok) return;
    await readEvents(response, watchdog.feed, ({ event, data }) => {
      // Our own server's words, of the type it shares with this page.
      if (event === 'frame') void view.draw(JSON.parse(data) as ScreencastFrame).catch(() => undefined);
    });
  } finally {
    document.removeEventListener('visibilitychange', onHidden);
    removal.disconnect();
    watchdog.stop();
    ended.abort();
  }
}

/** Waits, and then until the page can be seen. */
function untilVisible(ms: number): Promise<void> {
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
