import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** How long a client may leave a full buffer unread before it is disconnected, in milliseconds. */
export const STALLED_CLIENT_MS = 60_000;

/**
 * Destroys a response whose client reads nothing for this long, so that it cannot hold on to a file or a session. A silent source or
 * a merely slow client is fine.
 */
export function disconnectWhenStalled(raw: ServerResponse, afterMs: number = STALLED_CLIENT_MS): void {
  raw.setTimeout(afterMs, () => {
    if (raw.writableNeedDrain) raw.destroy();
  });
}

/** Waits until the client has read the buffer or is gone; one that takes too long is disconnected. */
export function waitForDrain(raw: ServerResponse, stuckAfterMs: number): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(stalled);
      raw.off('drain', settle).off('close', settle);
      resolve();
    };
    const stalled = setTimeout(() => raw.destroy(), stuckAfterMs);
    stalled.unref();
    raw.on('drain', settle).on('close', settle);
  });
}

/** A signal that is aborted when the response is closed. */
export function abortOnClose(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
