import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { CdpProxy } from '../cdp/proxy.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import type { Session } from '../session/session.ts';

/** Most that an answer may hold, in bytes. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * Lets what comes through a socket drive the session's browser as a CDP client, judged and told as any. Only a websocket at
 * `path` is let in: where processes share the machine's network, others might find the way to it.
 */
export function serveCdp(proxy: CdpProxy, session: Session, channel: Socket, path: string): void {
  const server = createServer((_, response) => response.writeHead(404).end());
  server.on('upgrade', (request, socket, head: Buffer) => {
    socket.on('error', () => undefined);
    if (request.url === path) proxy.accept(session, request, socket, head);
    else rejectUpgrade(socket, new HoldfastError('not_found', 'Not a WebSocket endpoint'));
  });
  channel.on('error', () => undefined);
  server.emit('connection', channel);
}

/** All that a socket says until it ends; null when that is more than an answer may hold. */
export function readAnswer(channel: Socket): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  return new Promise((resolve) => {
    channel.on('data', (data: Buffer) => {
      size += data.length;
      if (size <= MAX_ANSWER_BYTES) pieces.push(data);
    });
    channel.on('error', () => undefined);
    channel.once('close', () => resolve(size > MAX_ANSWER_BYTES ? null : Buffer.concat(pieces)));
  });
}
