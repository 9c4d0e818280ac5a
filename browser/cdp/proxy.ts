import type { Duplex } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { HoldfastError } from '../../contract/errors.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import { describeLoaded } from '../extensions/loaded.ts';
import type { Session } from '../session/session.ts';
import type { DisconnectReason } from '../telemetry/connection-watch.ts';
import { watchConnection } from '../telemetry/connection-watch.ts';
import { createClientWatch } from './client-watch.ts';
import { createFlow } from './flow.ts';
import { CdpError } from './connection.ts';
import type { ClientCommand } from './guard.ts';
import { judgeCommand } from './guard.ts';
import { guardContextOf } from './guard-context.ts';
import { keepAlive, allowInvalidWebSocketKey, noPlaceFor } from './client-socket.ts';
import { answerCommand, readCommand, toText, isInternalWorldEvent } from './messages.ts';

/** Connections that one session takes at a time. */
const MAX_CONNECTIONS_PER_SESSION = 16;
/** Largest message in either direction, in bytes: Chromium's own bound is near it. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
/** Longest wait for Chromium to take a connection, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Lets clients of the protocol into sessions. The caller has checked the token. */
export interface CdpProxy {
  /**
   * Takes over the socket of an upgrade request. One that comes from the session's own browser does not keep the session: it
   * would outlive everybody.
   */
  accept(
    session: Session,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    options?: { fromWithin: boolean },
  ): void;
}

/** Each connection is a pair of websockets: the client's, and one to the session's browser on loopback. */
export function createCdpProxy(): CdpProxy {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  const letIn = allowInvalidWebSocketKey(server);
  const connections = new WeakMap<Session, number>();

  return {
    accept: (session, request, socket, head, { fromWithin } = { fromWithin: false }) => {
      const open = connections.get(session) ?? 0;
      if (open >= MAX_CONNECTIONS_PER_SESSION) {
        rejectUpgrade(socket, noPlaceFor('CDP connections'));
        return;
      }
      connections.set(session, open + 1);
      const endUse = fromWithin ? (): void => undefined : session.activity.begin();
      const browser = new WebSocket(session.chromium.wsEndpoint, {
        perMessageDeflate: false,
        maxPayload: MAX_MESSAGE_BYTES,
        handshakeTimeout: CONNECT_TIMEOUT_MS,
      });
      // The socket closes whatever happens: a handshake that fails, a client that goes away early, a session's end.
      socket.once('close', () => {
        endUse();
        connections.set(session, (connections.get(session) ?? 1) - 1);
        browser.terminate();
      });
      const failed = (): void => {
        rejectUpgrade(socket, new HoldfastError('browser_error', 'The browser is not responding; retry'));
      };
      browser.once('error', failed);
      // The client is let in once the browser listens: nothing has to be kept for it in between.
      browser.once('open', () => {
        browser.off('error', failed);
        letIn(request);
        server.handleUpgrade(request, socket, head, (client) => {
          join(session, client, browser);
        });
      });
    },
  };
}

/** Carries messages between a client and its session's browser until either goes, or the session ends. */
function join(session: Session, client: WebSocket, browser: WebSocket): void {
  const telemetry = watchConnection(session.record.telemetry);
  const watch = createClientWatch(session);
  const close = (reason: DisconnectReason): void => {
    telemetry.closed(reason);
    watch.closed();
    session.onEnd.delete(endWithSession);
    // A peer that does not answer the closing handshake is cut by ws after its own time-out.
    for (const socket of [client, browser]) socket.close(1000);
  };
  const endWithSession = (): void => {
    close(session.chromium.hasExited() ? 'upstream_error' : 'context_cancelled');
  };
  session.onEnd.add(endWithSession);
  const clientGone = (): void => {
    close('client_close');
  };
  const browserGone = (): void => {
    close('upstream_error');
  };
  client.on('close', clientGone).on('error', clientGone);
  browser.on('close', browserGone).on('error', browserGone);
  keepAlive(client);

  const flow = createFlow(client, browser);
  const context = guardContextOf(session);
  const answerExtensions = (command: ClientCommand): void => {
    describeLoaded(session.chromium).then(
      (extensions) => flow.answer(answerCommand(command, { result: { extensions } })),
      (error: unknown) => {
        const message = error instanceof CdpError ? error.message : 'the browser does not answer';
        flow.answer(answerCommand(command, { error: { code: -32_000, message } }));
      },
    );
  };
  client.on('message', (data, isBinary) => {
    telemetry.carried();
    const command = isBinary ? null : readCommand(toText(data).toString('utf8'));
    if (command === null) {
      flow.answer(
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
        flow.answer(answerCommand(command, { error: { code: -32_000, message: verdict.message } }));
        return;
      case 'disconnect':
        telemetry.command(command);
        client.send(answerCommand(command, { result: {} }), clientGone);
        return;
    }
  });
  browser.on('message', (data) => {
    if (isInternalWorldEvent(data)) return;
    telemetry.carried();
    watch.received(data);
    flow.toClient(toText(data));
  });
}
