import type { ScreencastFrame } from '../../contract/screencast.ts';
import { eventFrame, type EventStream } from '../../http/event-stream.ts';
import { tooManyConnections } from '../cdp/client-socket.ts';
import type { Session } from '../session/session.ts';
import { MAX_VIEWERS_PER_SESSION, startScreencast } from './screencast.ts';

/** JPEG quality: text stays readable, and a phone's network is spared. */
const QUALITY = 70;

/**
 * Sends a picture whenever the page in use has painted, and none while the reader still has one to take. Done when the reader has
 * gone or the session has ended; nothing is captured from then on. Throws `rate_limited` where enough people look.
 * @param open begins the answer, once there is a place for the reader.
 */
export function streamScreencast(session: Session, open: () => EventStream): Promise<void> {
  const { watchers, onEnd, chromium } = session;
  if (watchers.live >= MAX_VIEWERS_PER_SESSION) throw tooManyConnections('live views');
  watchers.live += 1;
  const stream = open();
  const stop = startScreencast(chromium, { quality: QUALITY }, ({ jpeg, width, height }) => {
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
