import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** How long a reader may leave a full answer unread, in milliseconds, before it is cut off. */
export const STUCK_READER_MS = 60_000;

/**
 * Cuts an answer off whose reader has taken nothing for so long: what it is made from (a file, a session) would be held
 * for as long as the reader likes. A source that has nothing to say is no fault of the reader. Slowness alone is allowed.
 */
export function cutOffWhenStuck(raw: ServerResponse, afterMs: number = STUCK_READER_MS): void {
  raw.setTimeout(afterMs, () => {
    if (raw.writableNeedDrain) raw.destroy();
  });
}

/** Waits until the reader has taken what is buffered, or is gone; one that takes too long is cut off. */
export function drained(raw: ServerResponse, stuckAfterMs: number): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(stuck);
      raw.off('drain', settle).off('close', settle);
      resolve();
    };
    const stuck = setTimeout(() => raw.destroy(), stuckAfterMs);
    stuck.unref();
    raw.on('drain', settle).on('close', settle);
  });
}

/** Aborted when nobody waits for the answer any more. */
export function whenGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
