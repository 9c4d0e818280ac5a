import type { FileEvent } from '../../contract/files.ts';

/** Most buffered events; the oldest are dropped. */
const MAX_BUFFERED = 1000;

/** Buffers the events of a watch for its reader, without backpressure. */
export interface WatchEvents {
  push(event: FileEvent): void;
  /** Counts events that were lost before they got here. */
  lost(count: number): void;
  /** Ends the events; `why` tells the reader of an end it did not request. */
  end(why?: string): void;
  hasEnded(): boolean;
  /**
   * Yields buffered and further events until the end or the signal, and comments where some were lost. There is one reader: a
   * new one replaces the former.
   */
  read(signal: AbortSignal): AsyncGenerator<FileEvent | { comment: string }>;
}

export function createWatchEvents(): WatchEvents {
  const waiting: FileEvent[] = [];
  let lost = 0;
  let ended = false;
  let reason: string | undefined;
  let wake: () => void = () => undefined;
  let reader = 0;

  return {
    push: (event) => {
      if (ended) return;
      waiting.push(event);
      if (waiting.length > MAX_BUFFERED) {
        waiting.shift();
        lost += 1;
      }
      wake();
    },
    lost: (count) => {
      lost += count;
      wake();
    },
    end: (why) => {
      if (ended) return;
      ended = true;
      reason = why;
      wake();
    },
    hasEnded: () => ended,
    read: async function* (signal) {
      reader += 1;
      const self = reader;
      wake();
      signal.addEventListener('abort', () => wake(), { once: true });
      while (!signal.aborted && self === reader) {
        if (lost > 0) {
          const comment = `${String(lost)} events were not read in time`;
          lost = 0;
          yield { comment };
          continue;
        }
        const event = waiting.shift();
        if (event !== undefined) {
          yield event;
          continue;
        }
        if (ended) {
          if (reason !== undefined) yield { comment: reason };
          return;
        }
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
