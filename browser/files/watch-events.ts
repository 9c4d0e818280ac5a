import type { FileEvent } from '../../contract/files.ts';

/** Most events that wait for a reader; the oldest go when there are more. */
const MAX_WAITING = 1000;

/** Events of one watch on their way to whoever reads them. Nothing waits for a reader. */
export interface WatchEvents {
  push(event: FileEvent): void;
  /** Notes that events went missing before they came here. */
  lost(count: number): void;
  /** No more events come; `why` is told to the reader when it was not asked for. */
  end(why?: string): void;
  hasEnded(): boolean;
  /**
   * What waits and what comes, to the end or until the signal, as comments where some are missing. There is one reader: a
   * new one takes over, and the one before ends.
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
      if (waiting.length > MAX_WAITING) {
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
