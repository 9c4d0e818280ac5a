import type { Readable, Writable } from 'node:stream';
import type { CdpTransport } from './connection.ts';

/**
 * The protocol over the pair of pipes that `--remote-debugging-pipe` opens: messages end with a zero byte. Chromium
 * ends itself when the pipe closes, so that a service which dies leaves no browser behind.
 */
export function createPipeTransport(toBrowser: Writable, fromBrowser: Readable): CdpTransport {
  let chunks: Buffer[] = [];
  let onMessage: (message: string) => void = () => undefined;
  const onClose: (() => void)[] = [];
  let closed = false;
  const end = (): void => {
    if (closed) return;
    closed = true;
    for (const listener of onClose) listener();
  };

  fromBrowser.on('data', (data: Buffer) => {
    let start = 0;
    for (let end = data.indexOf(0); end !== -1; end = data.indexOf(0, start)) {
      chunks.push(data.subarray(start, end));
      const message = (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))?.toString('utf8');
      chunks = [];
      start = end + 1;
      if (message !== undefined) onMessage(message);
    }
    if (start < data.length) chunks.push(data.subarray(start));
  });
  fromBrowser.on('close', end).on('error', end);
  // Writing to a browser that has just died raises EPIPE here; the closing of the other pipe tells the rest.
  toBrowser.on('error', end).on('close', end);

  return {
    send: (message) => {
      if (!closed) toBrowser.write(`${message}\0`);
    },
    onMessage: (listener) => {
      onMessage = listener;
    },
    onClose: (listener) => {
      onClose.push(listener);
    },
    close: () => {
      toBrowser.destroy();
      fromBrowser.destroy();
      end();
    },
  };
}
