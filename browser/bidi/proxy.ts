import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { keepAlive, tooManyConnections } from '../cdp/client-socket.ts';
import { toBuffer } from '../cdp/messages.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import type { Session } from '../session/session.ts';
import { bidiError, bidiSuccess, readBidiCommand, type BidiCommand } from './messages.ts';
import { startBidiMapper, type BidiMapper } from './mapper.ts';

/** BiDi connections per session; each has its own thread. */
const MAX_CONNECTIONS_PER_SESSION = 4;
/** Largest message of a client, in bytes. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** A client with more unread bytes than this is disconnected. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** Connects WebDriver BiDi clients to sessions. The caller has verified the token. */
export interface BidiProxy {
  /** Takes over the socket of an upgrade request. */
  accept(session: Session, request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** A connection starts with `session.new`, as the standard requires; the browser session outlives it. */
export function createBidiProxy(): BidiProxy {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  const connections = new WeakMap<Session, number>();
  return {
    accept: (session, request, socket, head) => {
      const open = connections.get(session) ?? 0;
      if (open >= MAX_CONNECTIONS_PER_SESSION) {
        rejectUpgrade(socket, tooManyConnections('BiDi connections'));
        return;
      }
      connections.set(session, open + 1);
      const endUse = session.activity.begin();
      socket.once('close', () => {
        endUse();
        connections.set(session, (connections.get(session) ?? 1) - 1);
      });
      server.handleUpgrade(request, socket, head, (client) => serve(session, client));
    },
  };
}

function serve(session: Session, client: WebSocket): void {
  let mapper: Promise<BidiMapper> | null = null;
  /** Id of the `session.new` command, whose response needs a session id that the mapper does not add. */
  let creationId: number | null = null;

  const endMapper = (): void => {
    mapper?.then(
      (running) => running.close(),
      () => undefined,
    );
    mapper = null;
  };
  const close = (): void => {
    session.onEnd.delete(close);
    endMapper();
    client.resume();
    client.close(1000);
  };
  session.onEnd.add(close);
  client.on('close', close).on('error', close);
  keepAlive(client);

  const send = (text: string): void => {
    if (client.readyState !== WebSocket.OPEN) return;
    client.send(text);
    if (client.bufferedAmount > MAX_UNREAD_BYTES) client.terminate();
  };
  const create = (command: BidiCommand, bytes: number): void => {
    creationId = command.id;
    // Commands are not read until the mapper accepts them, so they do not pile up.
    client.pause();
    const starting = startBidiMapper(session, {
      onMessage: (message) => send(JSON.stringify(withSessionId(message, creationId))),
      onBackpressure: (isHigh) => {
        if (isHigh) client.pause();
        else client.resume();
      },
      onClose: () => {
        // Not closed by us: the browser has exited, or the thread has failed.
        if (mapper !== starting) return;
        client.resume();
        client.close(1011, 'The BiDi session has ended');
      },
    });
    mapper = starting;
    starting.then(
      (running) => {
        running.send(command, bytes);
        client.resume();
      },
      () => {
        client.resume();
        send(bidiError(command.id, 'session not created', 'The browser is not responding; retry'));
      },
    );
  };
  const forward = async (command: BidiCommand, bytes: number, to: Promise<BidiMapper>): Promise<void> => {
    try {
      (await to).send(command, bytes);
    } catch {
      send(bidiError(command.id, 'unknown error', 'The browser is not responding; retry'));
    }
  };

  client.on('message', (data, isBinary) => {
    const text = toBuffer(data);
    const command = isBinary ? null : readBidiCommand(text.toString('utf8'));
    if (command === null) {
      send(bidiError(null, 'invalid argument', 'A message must be a JSON command with id, method and params'));
      return;
    }
    const { id, method } = command;
    if (method === 'session.new') {
      if (mapper === null) create(command, text.length);
      else send(bidiError(id, 'session not created', 'This connection already has a session'));
    } else if (mapper === null) {
      if (method === 'session.status') send(bidiSuccess(id, { ready: true, message: '' }));
      else send(bidiError(id, 'invalid session id', 'Send session.new first'));
    } else if (method === 'session.end' || method === 'browser.close') {
      send(bidiSuccess(id, {}));
      close();
    } else {
      void forward(command, text.length, mapper);
    }
  });
}

function withSessionId(message: object, creationId: number | null): object {
  if (!('id' in message) || message.id !== creationId || !('result' in message)) return message;
  const { result } = message;
  if (typeof result !== 'object' || result === null || !('sessionId' in result)) return message;
  return { ...message, result: { ...result, sessionId: randomUUID() } };
}
