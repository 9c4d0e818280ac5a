import type { EventStream } from '../http/event-stream.ts';
import type { EventLog, LoggedEvent } from './event-log.ts';

/** Most that is handed to a reader's socket at a time, in characters: what a slow reader can hold in memory. */
const BATCH_CHARACTERS = 64 * 1024;

/**
 * Sends a session's events with numbers above `seq` until the reader goes or the session has ended. The reader sets the
 * pace: while it reads nothing, nothing is kept for it but its place, and what the log drops meanwhile it misses.
 */
export async function streamEvents(log: EventLog, seq: number, stream: EventStream): Promise<void> {
  let cursor = seq;
  let wake: () => void = () => undefined;
  const stopListening = log.onChange(() => {
    wake();
  });
  stream.onClose(() => {
    wake();
  });
  try {
    while (!stream.closed()) {
      const changed = new Promise<void>((resolve) => (wake = resolve));
      const events = log.after(cursor, BATCH_CHARACTERS);
      const newest = events.at(-1);
      if (newest === undefined) {
        if (log.hasEnded()) break;
        await changed;
        continue;
      }
      cursor = newest.seq;
      await stream.send(events.map(frameOf).join(''));
    }
  } finally {
    stopListening();
    stream.end();
  }
}

/** An envelope (TelemetryStreamResponse) as JSON. */
export function envelopeOf({ seq, json }: LoggedEvent): string {
  return `{"seq":${String(seq)},"event":${json}}`;
}

function frameOf(event: LoggedEvent): string {
  return `id: ${String(event.seq)}\ndata: ${envelopeOf(event)}\n\n`;
}
