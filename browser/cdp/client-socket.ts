import { HoldfastError } from '../../contract/errors.ts';
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { WebSocket, WebSocketServer } from 'ws';

/** How often a client is asked whether it is still there, in milliseconds. It keeps proxies between from cutting a quiet line. */
const PING_INTERVAL_MS = 30_000;
/**
 * How long a client may leave that unanswered, in milliseconds. Programs that read only when they wait for something, or
 * that stand in a debugger, answer late; a client that is dead is told by the system, at the latest after about as long.
 */
const MAX_SILENCE_MS = 15 * 60_000;

/** Ends a client that has gone without a word: a cut line leaves its socket open otherwise. Stops when it closes. */
export function keepAlive(client: WebSocket): void {
  let unanswered = 0;
  const heard = (): void => {
    unanswered = 0;
  };
  client.on('pong', heard);
  client.on('message', heard);
  const ping = setInterval(() => {
    if (unanswered * PING_INTERVAL_MS >= MAX_SILENCE_MS) {
      client.terminate();
      return;
    }
    unanswered += 1;
    client.ping();
  }, PING_INTERVAL_MS);
  ping.unref();
  client.once('close', () => {
    clearInterval(ping);
  });
}

/** Appended to a client's key before it is hashed (RFC 6455, section 4.2.2). */
const HANDSHAKE_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** 16 bytes in base64 (RFC 6455, section 4.1). */
const REGULAR_KEY = /^[+/0-9A-Za-z]{22}==$/;
const KEY_HEADER = 'sec-websocket-key';

/**
 * Lets clients in whose handshake key is not as the RFC wants it. Chromium asks nothing of the key, so there are clients of CDP
 * that send any word (rod sends `nil`); they still check the answer that belongs to it. Call the result for each
 * request before it is upgraded.
 */
export function allowInvalidWebSocketKey(server: WebSocketServer): (request: IncomingMessage) => void {
  const odd = new WeakMap<IncomingMessage, string>();
  server.on('headers', (headers, request) => {
    const key = odd.get(request);
    const line = headers.findIndex((header) => /^sec-websocket-accept:/i.test(header));
    if (key === undefined || line === -1) return;
    const answer = createHash('sha1').update(`${key}${HANDSHAKE_GUID}`).digest('base64');
    headers[line] = `Sec-WebSocket-Accept: ${answer}`;
  });
  return (request) => {
    const key = request.headers[KEY_HEADER];
    if (key === undefined || REGULAR_KEY.test(key)) return;
    odd.set(request, key);
    request.headers[KEY_HEADER] = randomBytes(16).toString('base64');
  };
}

/** How long until a place for a connection may have become free, in seconds: clients close theirs within moments. */
const PLACE_RETRY_S = 5;

/** The refusal of one connection more than a session takes. */
export function noPlaceFor(connections: string): HoldfastError {
  return new HoldfastError('rate_limited', `Too many ${connections} to this session; close one and retry`, {
    retryAfterSeconds: PLACE_RETRY_S,
  });
}
