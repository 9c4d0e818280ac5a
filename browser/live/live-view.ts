import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { keepAlive, tooManyConnections } from '../cdp/client-socket.ts';
import { toBuffer } from '../cdp/messages.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import { MAX_VIEWERS_PER_SESSION, startScreencast, type Frame } from '../screen/screencast.ts';
import type { Session } from '../session/session.ts';
import { ViewerMessage, type ViewMessage } from './messages.ts';
import { applyViewerInput } from './viewer-input.ts';

/** Largest message of a viewer, in bytes; pasted text is the largest. */
const MAX_MESSAGE_BYTES = 64 * 1024;
/** Queued inputs of a viewer beyond which moves are dropped, and beyond which the viewer is disconnected. */
const MAX_QUEUED_MOVES = 64;
const MAX_QUEUED_INPUTS = 1024;
/** JPEG quality at which text stays readable. */
const QUALITY = 80;
/** Unread bytes beyond which page updates are held back; once half is read, only the latest is sent. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** Shows sessions to people and takes their input. The caller has verified the token. */
export interface LiveView {
  /** Takes over the socket of an upgrade request. */
  accept(session: Session, request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** An open live view counts as activity of the session. */
export function createLiveView(): LiveView {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  return {
    accept: (session, request, socket, head) => {
      if (session.watchers.live >= MAX_VIEWERS_PER_SESSION) {
        rejectUpgrade(socket, tooManyConnections('live views'));
        return;
      }
      session.watchers.live += 1;
      const endUse = session.activity.begin();
      const recordDisconnect = recordConnect(session);
      socket.once('close', () => {
        session.watchers.live -= 1;
        endUse();
        recordDisconnect();
      });
      server.handleUpgrade(request, socket, head, (viewer) => serve(session, viewer));
    },
  };
}

/** Records a viewer in the session's telemetry; returns the function that records its disconnect. */
function recordConnect({ record }: Session): () => void {
  const source = { kind: 'kernel_api' } as const;
  const startedAt = performance.now();
  record.telemetry.emit('live_view_connect', source, { session_id: record.id });
  return () => {
    const duration = Math.round(performance.now() - startedAt);
    record.telemetry.emit('live_view_disconnect', source, { session_id: record.id, duration_ms: duration });
  };
}

function serve(session: Session, viewer: WebSocket): void {
  const { pages } = session.chromium;
  const size = { width: 0, height: 0 };
  let lastSent = '';
  /** An update was held back: a page can change its URL faster than the viewer reads. */
  let isBehind = false;
  const catchUp = (): void => {
    if (isBehind && viewer.bufferedAmount < MAX_UNREAD_BYTES / 2) sendPage();
  };
  const sendMessage = (message: ViewMessage): void => {
    const text = JSON.stringify(message);
    if (viewer.readyState !== WebSocket.OPEN) return;
    isBehind = text !== lastSent && viewer.bufferedAmount > MAX_UNREAD_BYTES;
    if (isBehind || text === lastSent) return;
    lastSent = text;
    viewer.send(text, catchUp);
  };
  const sendPage = (): void => {
    const page = pages.active();
    if (page === undefined) {
      sendMessage({ type: 'blank' });
      return;
    }
    const { title, url, dialog } = page;
    const shown = dialog && { kind: dialog.type, message: dialog.message, defaultPrompt: dialog.defaultPrompt };
    sendMessage({ type: 'page', title, url, ...size, dialog: shown });
  };
  const sendFrame = (frame: Frame): Promise<void> =>
    new Promise((resolve) => {
      if (size.width !== frame.width || size.height !== frame.height) {
        Object.assign(size, { width: frame.width, height: frame.height });
        sendPage();
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
      await sendFrame(frame);
    }
    sending = null;
  };
  /** Resolves when this frame or a later one is sent. After a page switch, a frame may arrive while one is being sent. */
  const show = (frame: Frame): Promise<void> => {
    next = frame;
    sending ??= sendLatest();
    return sending;
  };

  const stopScreencast = startScreencast(session.chromium, { quality: QUALITY }, show);
  const stopPageUpdates = pages.onChange(sendPage);
  const stopTitles = followTitles(session, sendPage);
  sendPage();
  keepAlive(viewer);
  handleInput(session, viewer);

  const end = (): void => {
    // Sent even to a viewer that is behind, which would otherwise reconnect.
    viewer.send(JSON.stringify({ type: 'ended' } satisfies ViewMessage));
    viewer.close(1000);
  };
  session.onEnd.add(end);
  viewer.once('close', () => {
    session.onEnd.delete(end);
    stopPageUpdates();
    stopTitles();
    stopScreencast();
    // A button still held at the disconnect would make the next click a drag.
    void session.exclusively(() => releaseLeftButton(session)).catch(() => undefined);
  });
  viewer.on('error', () => viewer.terminate());
}

/** Queries a page's title when it has loaded, since the browser does not report it by itself. */
function followTitles({ chromium }: Session, onTitle: () => void): () => void {
  const { cdp, pages } = chromium;
  const update = async (sessionId: string | undefined): Promise<void> => {
    const page = pages.active();
    if (page === undefined || (sessionId !== undefined && page.sessionId !== sessionId)) return;
    const { targetInfo } = await cdp.send('Target.getTargetInfo', { targetId: page.targetId });
    page.title = targetInfo.title;
    onTitle();
  };
  const onLoad = (_: unknown, sessionId: string | undefined): void => {
    // Fails if the page closes right away.
    update(sessionId).catch(() => undefined);
  };
  const stops = [cdp.on('Page.domContentEventFired', onLoad), cdp.on('Page.loadEventFired', onLoad)];
  onLoad(null, undefined);
  return () => {
    for (const stop of stops) stop();
  };
}

/** Applies inputs in order, between computer actions of callers and never during one. */
function handleInput(session: Session, viewer: WebSocket): void {
  let queued = 0;
  viewer.on('message', (data, isBinary) => {
    const message = isBinary ? null : readMessage(toBuffer(data).toString('utf8'));
    if (message === null || queued >= MAX_QUEUED_INPUTS) {
      viewer.close(1008, 'Invalid live view message');
      return;
    }
    if (message.type === 'move' && queued >= MAX_QUEUED_MOVES) return;
    queued += 1;
    session
      .exclusively(() => applyViewerInput(session, message))
      // The page cannot take input now (it is closing, or a dialog is open), which the viewer sees.
      .catch(() => undefined)
      .finally(() => {
        queued -= 1;
      });
  });
}

async function releaseLeftButton(session: Session): Promise<void> {
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
