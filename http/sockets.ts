import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HoldfastError } from '../contract/errors.ts';
import { errorHeaders } from './errors.ts';
import { ANSWER_HEADERS } from './headers.ts';

/** Answers an upgrade request with an error, in the same body as every other refusal, and ends the connection. */
export function refuseUpgrade(socket: Duplex, error: HoldfastError): void {
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

/**
 * Answers what is not HTTP, or took too long to become it. Such a request never reaches a route, so nothing of it is read,
 * logged or repeated. For Fastify's `clientErrorHandler`.
 */
export function answerBrokenRequest(fault: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || fault.code === 'ECONNRESET') socket.destroy();
  else refuseUpgrade(socket, refusalOf(fault.code));
}

function refusalOf(code: string | undefined): HoldfastError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HoldfastError('bad_request', 'The headers are larger than 16 KiB');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HoldfastError('bad_request', 'The request took too long to arrive');
    default:
      return new HoldfastError('bad_request', 'The request is not valid HTTP');
  }
}
