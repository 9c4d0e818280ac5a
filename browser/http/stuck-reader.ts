import type { ServerResponse } from 'node:http';

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
