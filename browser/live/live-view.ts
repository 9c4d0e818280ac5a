import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { keepAlive, noPlaceFor } from '../cdp/client-socket.ts';
import { toText } from '../cdp/messages.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import type { Frame } from '../screen/screencast.ts';
import { MAX_VIEWERS_PER_SESSION, startScreencast } from '../screen/screencast.ts';
import type { Session } from '../session/session.ts';
import type { ViewMessage } from './messages.ts';
import { ViewerMessage } from './messages.ts';
import { applyViewerInput } from './viewer-input.ts';

/** Largest message of a viewer, in bytes: pasted text is the largest. */
const MAX_MESSAGE_BYTES = 64 * 1024;
/** Inputs of one viewer that may wait for the page; moves beyond it are dropped, anything else ends the viewer. */
const MAX_WAITING = 64;
const MAX_WAITING_ALL = 1024;
/** JPEG quality of the pictures: text stays readable. */
const QUALITY = 80;
/** Unread words, in bytes, from which on a viewer is told nothing until half of them has gone; then the latest alone. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** Shows sessions to people and takes their input. The caller has checked the token. */
export interface LiveView {
  /** Takes over the socket of an upgrade request. */
  accept(session: Session, request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** An open view counts as activity: somebody looks. */
export function createLiveView(): LiveView {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  return {
    accept: (session, request, socket, head) => {
      if (session.watchers.live >= MAX_VIEWERS_PER_SESSION) {
        rejectUpgrade(socket, noPlaceFor('live views'));
        return;
      }
      session.watchers.live += 1;
      const endUse = session.activity.begin();
      const tellClosed = tellOpened(session);
      socket.once('close', () => {
        session.watchers.live -= 1;
        endUse();
        tellClosed();
      });
      server.handleUpgrade(request, socket, head, (viewer) => {
        serve(session, viewer);
      });
    },
  };
}

/** Tells the session's telemetry of a viewer, and, by the answer, that it has gone. */
function tellOpened({ record }: Session): () => void {
  const source = { kind: 'kernel_api' } as const;
  const began = performance.now();
  record.telemetry.emit('live_view_connect', source, { session_id: record.id });
  return () => {
    const duration = Math.round(performance.now() - began);
    record.telemetry.emit('live_view_disconnect', source, { session_id: record.id, duration_ms: duration });
  };
}

function serve(session: Session, viewer: WebSocket): void {
  const { pages } = session.chromium;
  const size = { width: 0, height: 0 };
  let told = '';
  /** Something was left untold: a page can change its address faster than anybody reads. */
  let behind = false;
  const catchUp = (): void => {
    if (behind && viewer.bufferedAmount < MAX_UNREAD_BYTES / 2) tellPage();
  };
  const tell = (message: ViewMessage): void => {
    const text = JSON.stringify(message);
    if (viewer.readyState !== WebSocket.OPEN) return;
    behind = text !== told && viewer.bufferedAmount > MAX_UNREAD_BYTES;
    if (behind || text === told) return;
    told = text;
    viewer.send(text, catchUp);
  };
  const tellPage = (): void => {
    const page = pages.active();
    if (page === undefined) {
      tell({ type: 'blank' });
      return;
    }
    const { title, url, dialog } = page;
    const shown = dialog && { kind: dialog.type, message: dialog.message, defaultPrompt: dialog.defaultPrompt };
    tell({ type: 'page', title, url, ...size, dialog: shown });
  };
  const send = (frame: Frame): Promise<void> =>
    new Promise((resolve) => {
      if (size.width !== frame.width || size.height !== frame.height) {
        Object.assign(size, { width: frame.width, height: frame.height });
        tellPage();
      }
      viewer.send(frame.jpeg, { binary: true }, () => {
        catchUp();
        resolve();
      });
    });
  let next: Frame | null = null;
  let sending: Promise<void> | null = null;
  const sendLatest = async (): Promise<void> => {
    for (let frame = next; frame !== null; frame = next) {
      next = null;
      await send(frame);
    }
    sending = null;
  };
  /** Resolves when the picture, or a later one, has left. A page that comes into use has a picture before that, too. */
  const show = (frame: Frame): Promise<void> => {
    next = frame;
    sending ??= sendLatest();
    return sending;
  };

  const stopPictures = startScreencast(session.chromium, { quality: QUALITY }, show);
  const stopTelling = pages.onChange(tellPage);
  const stopTitles = followTitles(session, tellPage);
  tellPage();
  keepAlive(viewer);
  takeInput(session, viewer);

  const end = (): void => {
    // Said in any case: a viewer that is behind would take the closing for a broken line.
    viewer.send(JSON.stringify({ type: 'ended' } satisfies ViewMessage));
    viewer.close(1000);
  };
  session.onEnd.add(end);
  viewer.once('close', () => {
    session.onEnd.delete(end);
    stopTelling();
    stopTitles();
    stopPictures();
    // A button that was held when the line broke is let go, else the next click would drag.
    void session.exclusively(() => letGo(session)).catch(() => undefined);
  });
  viewer.on('error', () => {
    viewer.terminate();
  });
}

/** A page's title is known once it has loaded; the browser does not tell of it by itself. */
function followTitles({ chromium }: Session, onTitle: () => void): () => void {
  const { cdp, pages } = chromium;
  const ask = async (sessionId: string | undefined): Promise<void> => {
    const page = pages.active();
    if (page === undefined || (sessionId !== undefined && page.sessionId !== sessionId)) return;
    const { targetInfo } = await cdp.send('Target.getTargetInfo', { targetId: page.targetId });
    page.title = targetInfo.title;
    onTitle();
  };
  const onLoad = (_: unknown, sessionId: string | undefined): void => {
    // A page that closes right away has no title any more.
    ask(sessionId).catch(() => undefined);
  };
  const stops = [cdp.on('Page.domContentEventFired', onLoad), cdp.on('Page.loadEventFired', onLoad)];
  onLoad(null, undefined);
  return () => {
    for (const stop of stops) stop();
  };
}

/** Inputs go to the page in their order, between the computer actions of callers and never into one. */
function takeInput(session: Session, viewer: WebSocket): void {
  let waiting = 0;
  viewer.on('message', (data, isBinary) => {
    const message = isBinary ? null : readMessage(toText(data).toString('utf8'));
    if (message === null || waiting >= MAX_WAITING_ALL) {
      viewer.close(1008, 'A message is not one of the live view');
      return;
    }
    if (message.type === 'move' && waiting >= MAX_WAITING) return;
    waiting += 1;
    session
      .exclusively(() => applyViewerInput(session, message))
      // The page cannot take it now (it closes, a dialog is open): the picture shows so.
      .catch(() => undefined)
      .finally(() => {
        waiting -= 1;
      });
  });
}

async function letGo(session: Session): Promise<void> {
  const { x, y, buttons } = session.input;
  if ((buttons & 1) === 0) return;
  await applyViewerInput(session, { type: 'release', x, y, button: 'left', clicks: 1, modifiers: 0 });
}

function readMessage(text: string): ViewerMessage | null {
  try {
    return ViewerMessage.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
