import path from 'node:path';
import type { Duplex } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import type { RawData } from 'ws';
import type { Session } from '../session/session.ts';
import { createActivationWatch } from './activation.ts';
import type { ClientCommand } from './guard.ts';
import { judgeCommand } from './guard.ts';

/** Connections that one session takes at a time. */
const MAX_CONNECTIONS_PER_SESSION = 16;
/** Largest message in either direction, in bytes: Chromium's own bound is near it. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
/** When this much waits for a slow reader, the other side is not read until half of it has gone, in bytes. */
const HIGH_WATER_BYTES = 8 * 1024 * 1024;
/** How often a silent client is asked whether it is still there, in milliseconds; two silences end it. */
const PING_INTERVAL_MS = 30_000;
/** Longest wait for Chromium to take a connection, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Lets clients of the protocol into sessions. The caller has checked the token. */
export interface CdpProxy {
  /** Takes over the socket of an upgrade request. */
  accept(session: Session, request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Each connection is a pair of websockets: the client's, and one to the session's browser on loopback. */
export function createCdpProxy(): CdpProxy {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  const connections = new WeakMap<Session, number>();

  return {
    accept: (session, request, socket, head) => {
      const open = connections.get(session) ?? 0;
      if (open >= MAX_CONNECTIONS_PER_SESSION) {
        refuseUpgrade(socket, 429, 'Too many connections to this session');
        return;
      }
      connections.set(session, open + 1);
      const endUse = session.activity.begin();
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
        refuseUpgrade(socket, 502, 'The browser does not answer');
      };
      browser.once('error', failed);
      // The client is let in once the browser listens: nothing has to be kept for it in between.
      browser.once('open', () => {
        browser.off('error', failed);
        server.handleUpgrade(request, socket, head, (client) => {
          join(session, client, browser);
        });
      });
    },
  };
}

/** Carries messages between a client and its session's browser until either goes, or the session ends. */
function join(session: Session, client: WebSocket, browser: WebSocket): void {
  const close = (): void => {
    session.onEnd.delete(close);
    clearInterval(ping);
    // A peer that does not answer the closing handshake is cut by ws after its own time-out.
    for (const socket of [client, browser]) socket.close(1000);
  };
  session.onEnd.add(close);
  for (const socket of [client, browser]) socket.on('close', close).on('error', close);

  let alive = true;
  client.on('pong', () => (alive = true));
  const ping = setInterval(() => {
    if (!alive) {
      client.terminate();
      return;
    }
    alive = false;
    client.ping();
  }, PING_INTERVAL_MS);
  ping.unref();

  const activation = createActivationWatch(session);
  const context = { downloadFolder: path.join(session.chromium.userDataDir, 'Downloads') };
  client.on('message', (data, isBinary) => {
    const command = isBinary ? null : readCommand(data);
    if (command === null) {
      client.send(
        JSON.stringify({
          error: { code: -32_700, message: 'A message must be a JSON command with an id and a method' },
        }),
      );
      return;
    }
    const verdict = judgeCommand(command, context);
    switch (verdict.kind) {
      case 'forward':
        activation.sent(verdict.command);
        forward(JSON.stringify(verdict.command), client, browser);
        return;
      case 'refuse':
        client.send(answer(command, { error: { code: -32_000, message: verdict.message } }));
        return;
      case 'disconnect':
        client.send(answer(command, { result: {} }), close);
        return;
    }
  });
  browser.on('message', (data) => {
    activation.received(data);
    forward(data, browser, client);
  });
}

/** Sends on, and stops reading the source while its reader is behind. */
function forward(data: RawData | string, source: WebSocket, target: WebSocket): void {
  target.send(typeof data === 'string' ? data : toText(data), { binary: false }, () => {
    if (source.isPaused && target.bufferedAmount < HIGH_WATER_BYTES / 2) source.resume();
  });
  if (target.bufferedAmount > HIGH_WATER_BYTES) source.pause();
}

function toText(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

function readCommand(data: RawData): ClientCommand | null {
  try {
    const value: unknown = JSON.parse(toText(data).toString('utf8'));
    if (typeof value !== 'object' || value === null) return null;
    const { id, method, params, sessionId } = value as Partial<Record<keyof ClientCommand, unknown>>;
    if (typeof id !== 'number' || typeof method !== 'string') return null;
    if (params !== undefined && (typeof params !== 'object' || params === null)) return null;
    // Built anew, so that the browser reads exactly what was judged: no second `method` can hide in it.
    return {
      id,
      method,
      ...(params === undefined ? {} : { params: params as Record<string, unknown> }),
      ...(typeof sessionId === 'string' ? { sessionId } : {}),
    };
  } catch {
    return null;
  }
}

function answer(command: ClientCommand, body: Record<string, unknown>): string {
  return JSON.stringify({
    id: command.id,
    ...(command.sessionId === undefined ? {} : { sessionId: command.sessionId }),
    ...body,
  });
}

/** Answers an upgrade request with a plain HTTP error. */
export function refuseUpgrade(socket: Duplex, status: number, message: string): void {
  const body = JSON.stringify({
    code: status === 401 ? 'unauthorized' : status === 404 ? 'not_found' : 'browser_error',
    message,
  });
  socket.end(
    `HTTP/1.1 ${String(status)} Refused\r\nContent-Type: application/json\r\nConnection: close\r\n` +
      `Content-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`,
  );
}
