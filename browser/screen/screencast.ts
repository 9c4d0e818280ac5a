import type { Chromium } from '../chromium/launch.ts';
import type { Page } from '../chromium/pages.ts';

/** Viewers that one session takes at a time: each picture is encoded for each of them. */
export const MAX_VIEWERS_PER_SESSION = 4;

/** One picture of the page in use. */
export interface Frame {
  jpeg: Buffer;
  /** Size of the page's viewport, in CSS pixels; the picture may be larger or smaller. */
  width: number;
  height: number;
}

/** How pictures are taken. */
export interface ScreencastOptions {
  /** JPEG quality, 1 to 100. */
  quality: number;
  /** Pictures are scaled down to fit, in pixels. */
  maxWidth?: number;
  maxHeight?: number;
}

/**
 * Sessions on pages that take no pictures now, for the next screencast. None is detached: the page's virtual authenticators,
 * whoever made them, would go with it.
 */
const idle = new WeakMap<Page, string[]>();

/**
 * Takes a picture whenever the page in use has painted, following the browser from page to page. The next is taken when
 * `onFrame` has resolved, so a slow reader gets fewer pictures, never late ones. Ends by the answer, or with the browser.
 */
export function startScreencast(
  chromium: Chromium,
  options: ScreencastOptions,
  onFrame: (frame: Frame) => Promise<void>,
): () => void {
  const { cdp, pages } = chromium;
  let shown: Page | undefined;
  let sessionId: string | undefined;
  let stopped = false;
  /** Attaching and detaching, one after the other. */
  let changes: Promise<void> = Promise.resolve();

  const release = async (page: Page, from: string): Promise<void> => {
    // Of a page that has closed there is nothing to stop.
    await cdp.send('Page.stopScreencast', undefined, from).then(
      () => idle.set(page, [...(idle.get(page) ?? []), from]),
      () => undefined,
    );
  };
  const show = async (page: Page | undefined): Promise<void> => {
    if (page === shown) return;
    const last = shown;
    shown = page;
    const old = sessionId;
    sessionId = undefined;
    if (old !== undefined && last !== undefined) await release(last, old);
    if (page === undefined || stopped) return;
    sessionId = idle.get(page)?.pop();
    if (sessionId === undefined) {
      ({ sessionId } = await cdp.send('Target.attachToTarget', { targetId: page.targetId, flatten: true }));
      await cdp.send('Page.enable', {}, sessionId);
    }
    await cdp.send('Page.startScreencast', { format: 'jpeg', everyNthFrame: 1, ...options }, sessionId);
  };
  const follow = (): void => {
    changes = changes.then(() => show(stopped ? undefined : pages.active())).catch(() => undefined);
  };
  const stopFrames = cdp.on('Page.screencastFrame', ({ data, metadata, sessionId: number }, from) => {
    if (from === undefined || from !== sessionId) return;
    // Nothing that waits for the picture's reader may hold the picture: he may never come.
    const acknowledge = (): Promise<void> => cdp.send('Page.screencastFrameAck', { sessionId: number }, from);
    const { deviceWidth: width, deviceHeight: height } = metadata;
    void onFrame({ jpeg: Buffer.from(data, 'base64'), width, height })
      .catch(() => undefined)
      .then(acknowledge)
      .catch(() => undefined);
  });
  const stopFollowing = pages.onChange(follow);
  follow();

  return () => {
    if (stopped) return;
    stopped = true;
    stopFollowing();
    stopFrames();
    follow();
  };
}
