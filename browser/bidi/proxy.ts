import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { keepAlive, noPlaceFor } from '../cdp/client-socket.ts';
import { toText } from '../cdp/messages.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import type { Session } from '../session/session.ts';
import type { BidiCommand } from './client-messages.ts';
import { bidiError, bidiSuccess, readBidiCommand } from './client-messages.ts';
import type { BidiMapper } from './mapper.ts';
import { startBidiMapper } from './mapper.ts';

/** BiDi connections that one session takes at a time: each has a thread of its own. */
const MAX_CONNECTIONS_PER_SESSION = 4;
/** Largest message of a client, in bytes. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** A client that has this much unread is cut, in bytes: what it misses would be lost anyway. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** Lets clients of WebDriver BiDi into sessions. The caller has checked the token. */
export interface BidiProxy {
  /** Takes over the socket of an upgrade request. */
  accept(session: Session, request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** A connection begins with `session.new`, as the standard has it; the browser's session lives on when it ends. */
export function createBidiProxy(): BidiProxy {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  const connections = new WeakMap<Session, number>();
  return {
    accept: (session, request, socket, head) => {
      const open = connections.get(session) ?? 0;
      if (open >= MAX_CONNECTIONS_PER_SESSION) {
        rejectUpgrade(socket, noPlaceFor('BiDi connections'));
        return;
      }
      connections.set(session, open + 1);
      const endUse = session.activity.begin();
      socket.once('close', () => {
        endUse();
        connections.set(session, (connections.get(session) ?? 1) - 1);
      });
      server.handleUpgrade(request, socket, head, (client) => {
        serve(session, client);
      });
    },
  };
}

function serve(session: Session, client: WebSocket): void {
  let mapper: Promise<BidiMapper> | null = null;
  /** The answer to this command names the session; the mapper does not. */
  let creation: number | null = null;

  const endMapper = (): void => {
    mapper?.then(
      (running) => {
        running.close();
      },
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
    creation = command.id;
    // Until it takes commands none is read: they would pile up.
    client.pause();
    const starting = startBidiMapper(session, {
      onMessage: (message) => {
        send(JSON.stringify(named(message, creation)));
      },
      onBehind: (behind) => {
        if (behind) client.pause();
        else client.resume();
      },
      onClose: () => {
        // Ended by itself: the browser went, or the thread could not go on.
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
    const text = toText(data);
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

function named(message: object, creation: number | null): object {
  if (!('id' in message) || message.id !== creation || !('result' in message)) return message;
  const { result } = message;
  if (typeof result !== 'object' || result === null || !('sessionId' in result)) return message;
  return { ...message, result: { ...result, sessionId: randomUUID() } };
}
