import { HoldfastError } from '../../contract/errors.ts';
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { WebSocket, WebSocketServer } from 'ws';

/** How often a client is pinged, in milliseconds. It also keeps proxies from closing idle connections. */
const PING_INTERVAL_MS = 30_000;
/**
 * How long a client may leave pings unanswered, in milliseconds. Programs that are busy or stopped in a debugger answer
 * late; TCP reports a dead client after about as long at most.
 */
const MAX_SILENCE_MS = 15 * 60_000;

/** Terminates a client that has disappeared without closing its connection. Stops when the connection closes. */
export function keepAlive(client: WebSocket): void {
  let unanswered = 0;
  const reset = (): void => {
    unanswered = 0;
  };
  client.on('pong', reset);
  client.on('message', reset);
  const ping = setInterval(() => {
    if (unanswered * PING_INTERVAL_MS >= MAX_SILENCE_MS) {
      client.terminate();
      return;
    }
    unanswered += 1;
    client.ping();
  }, PING_INTERVAL_MS);
  ping.unref();
  client.once('close', () => clearInterval(ping));
}

/** Appended to a client's key before it is hashed (RFC 6455, section 4.2.2). */
const HANDSHAKE_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** 16 bytes in base64 (RFC 6455, section 4.1). */
const VALID_KEY = /^[+/0-9A-Za-z]{22}==$/;
const KEY_HEADER = 'sec-websocket-key';

/**
 * Accepts clients with an invalid handshake key. Chromium does not check the key, so some CDP clients send any word (rod
 * sends `nil`), but verify the response to it. Call the returned function for each request before its upgrade.
 */
export function allowInvalidWebSocketKey(server: WebSocketServer): (request: IncomingMessage) => void {
  const invalidKeys = new WeakMap<IncomingMessage, string>();
  server.on('headers', (headers, request) => {
    const key = invalidKeys.get(request);
    const line = headers.findIndex((header) => /^sec-websocket-accept:/i.test(header));
    if (key === undefined || line === -1) return;
    const accept = createHash('sha1').update(`${key}${HANDSHAKE_GUID}`).digest('base64');
    headers[line] = `Sec-WebSocket-Accept: ${accept}`;
  });
  return (request) => {
    const key = request.headers[KEY_HEADER];
    if (key === undefined || VALID_KEY.test(key)) return;
    invalidKeys.set(request, key);
    request.headers[KEY_HEADER] = randomBytes(16).toString('base64');
  };
}

/** The `rate_limited` error for connections (of the kind given, in the plural) beyond a session's limit. */
export function tooManyConnections(connections: string): HoldfastError {
  return new HoldfastError('rate_limited', `Too many ${connections} to this session; close one and retry`, {
    // Clients usually close theirs within moments.
    retryAfterSeconds: 5,
  });
}
