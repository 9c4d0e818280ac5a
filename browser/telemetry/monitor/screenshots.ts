import type { Chromium } from '../../chromium/launch.ts';
import type { EmitFromBrowser } from './target.ts';

/** How often the page in use is looked at, in milliseconds. */
const EVERY_MS = 5_000;
/** A picture larger than this is left out, in characters of base64: a few of them would be all that is kept. */
const MAX_CHARACTERS = 1024 * 1024;

/** Takes a picture of the page in use now and then, where it has changed. The answer ends that. */
export function startScreenshots(chromium: Pick<Chromium, 'cdp' | 'pages'>, emit: EmitFromBrowser): () => void {
  let last = '';
  let busy = false;
  const look = async (): Promise<void> => {
    const page = chromium.pages.active();
    // A page behind a dialog is not drawn.
    if (busy || page === undefined || page.dialog !== null) return;
    busy = true;
    try {
      const { data } = await chromium.cdp.send(
        'Page.captureScreenshot',
        { format: 'png', optimizeForSpeed: true },
        page.sessionId,
      );
      if (data === last) return;
      last = data;
      const fits = data.length <= MAX_CHARACTERS;
      emit('monitor_screenshot', 'Page.captureScreenshot', fits ? { png: data } : {}, !fits);
    } catch {
      // The page has gone, or cannot be drawn now: the next look may do better.
    } finally {
      busy = false;
    }
  };
  void look();
  const timer = setInterval(() => void look(), EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
