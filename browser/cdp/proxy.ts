import type { Duplex } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { HoldfastError } from '../../contract/errors.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import { describeLoadedExtensions } from '../extensions/loaded-extensions.ts';
import type { Session } from '../session/session.ts';
import { watchConnection, type DisconnectReason } from '../telemetry/connection-watch.ts';
import { createClientWatch } from './client-watch.ts';
import { allowInvalidWebSocketKey, keepAlive, tooManyConnections } from './client-socket.ts';
import { CdpError } from './connection.ts';
import { guardContextOf, judgeCommand } from './guard.ts';
import { answerCommand, isInternalWorldEvent, readCommand, toBuffer, type ClientCommand } from './messages.ts';

const MAX_CONNECTIONS_PER_SESSION = 16;
/** Largest message in either direction, in bytes; Chromium's own limit is close to it. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** A peer is not read while this many bytes are unsent to the other one, until half of them are sent. */
const HIGH_WATER_BYTES = 8 * 1024 * 1024;

/** Connects CDP clients to sessions. The caller has verified the token. */
export interface CdpProxy {
  /**
   * Takes over the socket of an upgrade request. With `keepsSessionActive` false (a client inside the session's own browser),
   * the connection does not count as activity, as it would keep the session alive forever.
   */
  accept(
    session: Session,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    options?: { keepsSessionActive: boolean },
  ): void;
}

/** Each connection is a pair of websockets: the client's, and one to the session's browser. */
export function createCdpProxy(): CdpProxy {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  const allowKey = allowInvalidWebSocketKey(server);
  const connections = new WeakMap<Session, number>();

  return {
    accept: (session, request, socket, head, { keepsSessionActive } = { keepsSessionActive: true }) => {
      const open = connections.get(session) ?? 0;
      if (open >= MAX_CONNECTIONS_PER_SESSION) {
        rejectUpgrade(socket, tooManyConnections('CDP connections'));
        return;
      }
      connections.set(session, open + 1);
      const endUse = keepsSessionActive ? session.activity.begin() : (): void => undefined;
      const browser = new WebSocket(session.chromium.wsEndpoint, {
        perMessageDeflate: false,
        maxPayload: MAX_MESSAGE_BYTES,
        handshakeTimeout: CONNECT_TIMEOUT_MS,
      });
      // The socket closes in any case: failed handshake, early disconnect, or end of the session.
      socket.once('close', () => {
        endUse();
        connections.set(session, (connections.get(session) ?? 1) - 1);
        browser.terminate();
      });
      const failed = (): void => {
        rejectUpgrade(socket, new HoldfastError('browser_error', 'The browser is not responding; retry'));
      };
      browser.once('error', failed);
      // The client is accepted once the browser is connected, so nothing has to be buffered.
      browser.once('open', () => {
        browser.off('error', failed);
        allowKey(request);
        server.handleUpgrade(request, socket, head, (client) => relay(session, client, browser));
      });
    },
  };
}

/** Relays messages between a client and its session's browser until either disconnects or the session ends. */
function relay(session: Session, client: WebSocket, browser: WebSocket): void {
  const telemetry = watchConnection(session.record.telemetry);
  const watch = createClientWatch(session);
  const close = (reason: DisconnectReason): void => {
    telemetry.closed(reason);
    watch.closed();
    session.onEnd.delete(endWithSession);
    // ws terminates a peer that does not complete the closing handshake.
    for (const socket of [client, browser]) socket.close(1000);
  };
  const endWithSession = (): void => close(session.chromium.hasExited() ? 'upstream_error' : 'context_cancelled');
  session.onEnd.add(endWithSession);
  const clientGone = (): void => close('client_close');
  const browserGone = (): void => close('upstream_error');
  client.on('close', clientGone).on('error', clientGone);
  browser.on('close', browserGone).on('error', browserGone);
  keepAlive(client);

  const flow = createFlow(client, browser);
  const context = guardContextOf(session);
  const answerExtensions = (command: ClientCommand): void => {
    describeLoadedExtensions(session.chromium).then(
      (extensions) => flow.respond(answerCommand(command, { result: { extensions } })),
      (error: unknown) => {
        const message = error instanceof CdpError ? error.message : 'the browser is not responding';
        flow.respond(answerCommand(command, { error: { code: -32_000, message } }));
      },
    );
  };
  client.on('message', (data, isBinary) => {
    telemetry.messageRelayed();
    const command = isBinary ? null : readCommand(toBuffer(data).toString('utf8'));
    if (command === null) {
      flow.respond(
        JSON.stringify({
          error: { code: -32_700, message: 'A message must be a JSON command with an id and a method' },
        }),
      );
      return;
    }
    if (command.method === 'Extensions.getExtensions') {
      answerExtensions(command);
      return;
    }
    const verdict = judgeCommand(command, context);
    switch (verdict.kind) {
      case 'forward':
        telemetry.command(verdict.command);
        watch.sent(verdict.command);
        flow.toBrowser(JSON.stringify(verdict.command));
        return;
      case 'refuse':
        flow.respond(answerCommand(command, { error: { code: -32_000, message: verdict.message } }));
        return;
      case 'disconnect':
        telemetry.command(command);
        client.send(answerCommand(command, { result: {} }), clientGone);
        return;
    }
  });
  browser.on('message', (data) => {
    if (isInternalWorldEvent(data)) return;
    telemetry.messageRelayed();
    watch.received(data);
    flow.toClient(toBuffer(data));
  });
}

/** Relays messages at the pace of the slower peer, so that neither side's messages pile up here. */
function createFlow(client: WebSocket, browser: WebSocket) {
  const isLow = (socket: WebSocket): boolean => socket.bufferedAmount < HIGH_WATER_BYTES / 2;
  const resume = (): void => {
    if (browser.isPaused && isLow(client)) browser.resume();
    // Its commands fill the browser's buffer, and the proxy's responses its own.
    if (client.isPaused && isLow(client) && isLow(browser)) client.resume();
  };
  const send = (message: string | Buffer, target: WebSocket, source: WebSocket): void => {
    target.send(message, { binary: false }, resume);
    if (target.bufferedAmount > HIGH_WATER_BYTES) source.pause();
  };
  return {
    toBrowser: (message: string): void => send(message, browser, client),
    toClient: (message: Buffer): void => send(message, client, browser),
    /** Sends the proxy's own response; a client that does not read its responses is not read either. */
    respond: (message: string): void => send(message, client, client),
  };
}
