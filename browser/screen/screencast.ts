import type { ScreencastFrame } from '../../contract/screencast.ts';
import { eventFrame, type EventStream } from '../../http/event-stream.ts';
import { tooManyConnections } from '../cdp/client-socket.ts';
import type { Chromium } from '../chromium/launch.ts';
import type { Page } from '../chromium/pages.ts';
import type { Session } from '../session/session.ts';

/** Viewers per session; each frame is encoded for each of them. */
export const MAX_VIEWERS_PER_SESSION = 4;

/** JPEG quality of streams: text stays readable, and mobile networks are spared. */
const STREAM_QUALITY = 70;

/** A frame of the active page. */
export interface Frame {
  jpeg: Buffer;
  /** Size of the page's viewport, in CSS pixels; the image may be larger or smaller. */
  width: number;
  height: number;
}

interface ScreencastOptions {
  /** JPEG quality, 1 to 100. */
  quality: number;
  /** Frames are scaled down to fit, in pixels. */
  maxWidth?: number;
  maxHeight?: number;
}

/**
 * Idle CDP sessions by page, reused by the next screencast. They are never detached, as that would remove the page's virtual
 * authenticators, whoever added them.
 */
const idleSessions = new WeakMap<Page, string[]>();

/**
 * Captures a frame whenever the active page paints, following page switches. The next frame is captured once `onFrame` has
 * resolved, so a slow reader gets fewer frames, not late ones. Ends when the returned function is called, or with the browser.
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
  /** Serializes page switches. */
  let changes: Promise<void> = Promise.resolve();

  const release = async (page: Page, from: string): Promise<void> => {
    // Fails if the page has closed.
    await cdp.send('Page.stopScreencast', undefined, from).then(
      () => idleSessions.set(page, [...(idleSessions.get(page) ?? []), from]),
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
    sessionId = idleSessions.get(page)?.pop();
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
    // No closure that waits for the reader may retain the frame: the reader may never finish.
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

/**
 * Streams a frame whenever the active page paints, skipping frames while the reader still has one to receive. Resolves when
 * the reader has disconnected or the session has ended. Throws `rate_limited` if there are too many viewers.
 * @param open starts the response, once the reader is admitted.
 */
export function streamScreencast(session: Session, open: () => EventStream): Promise<void> {
  const { watchers, onEnd, chromium } = session;
  if (watchers.live >= MAX_VIEWERS_PER_SESSION) throw tooManyConnections('live views');
  watchers.live += 1;
  const stream = open();
  const stop = startScreencast(chromium, { quality: STREAM_QUALITY }, ({ jpeg, width, height }) => {
    const frame: ScreencastFrame = { width, height, jpeg: jpeg.toString('base64') };
    return stream.send(eventFrame('frame', frame));
  });
  const end = (): void => stream.end();
  onEnd.add(end);
  return new Promise((resolve) => {
    stream.onClose(() => {
      stop();
      onEnd.delete(end);
      watchers.live -= 1;
      resolve();
    });
  });
}
