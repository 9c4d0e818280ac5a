import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HoldfastError } from '../contract/errors.ts';
import { errorHeaders } from './errors.ts';
import { ANSWER_HEADERS } from './headers.ts';

/** Responds to an upgrade request with an error body and closes the connection. */
export function rejectUpgrade(socket: Duplex, error: HoldfastError): void {
  if (socket.destroyed || socket.writableEnded) return;
  const body = JSON.stringify(error.toBody());
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...ANSWER_HEADERS,
    ...errorHeaders(error),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}`, ...lines].join('\r\n');
  socket.end(`${head}\r\n\r\n${body}`);
}

/** Responds to malformed or incomplete HTTP, for Fastify's `clientErrorHandler`. Nothing of the request is read, logged or quoted. */
export function answerBrokenRequest(fault: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || fault.code === 'ECONNRESET') socket.destroy();
  else rejectUpgrade(socket, errorFor(fault.code));
}

function errorFor(code: string | undefined): HoldfastError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HoldfastError('bad_request', 'The headers are larger than 16 KiB');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HoldfastError('bad_request', 'The request took too long to arrive');
    default:
      return new HoldfastError('bad_request', 'The request is not valid HTTP');
  }
}
