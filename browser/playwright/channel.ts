import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { CdpProxy } from '../cdp/proxy.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import type { Session } from '../session/session.ts';

/** Largest answer, in bytes. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * Accepts a CDP client on a socket, guarded and reported like any other. The secret `path` keeps out other processes where they
 * share the machine's network.
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

/** Reads a socket to its end; null if that exceeds the size of an answer. */
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
