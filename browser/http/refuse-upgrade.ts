import type { Duplex } from 'node:stream';

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
