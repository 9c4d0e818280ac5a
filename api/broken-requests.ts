import type { Socket } from 'node:net';
import { HoldfastError } from '../contract/errors.ts';

/**
 * Answers what is not HTTP, or took too long to become it, in the same body as every other refusal. Such a request never
 * reaches a route, so nothing of it is read, logged or repeated.
 */
export function answerBrokenRequest(fault: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || fault.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(refusalOf(fault.code).toBody());
  const lines = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

function refusalOf(code: string | undefined): HoldfastError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HoldfastError('bad_request', 'the headers are larger than 16 KiB');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HoldfastError('bad_request', 'the request took too long to arrive');
    default:
      return new HoldfastError('bad_request', 'the request is not valid HTTP');
  }
}
