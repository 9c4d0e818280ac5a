import { setTimeout } from 'node:timers/promises';
import type { EventStream } from '../../http/event-stream.ts';
import type { EventLog, LoggedEvent } from './event-log.ts';

/** Most that is handed to a reader's socket at a time, in characters: what a slow reader can hold in memory. */
const BATCH_CHARACTERS = 64 * 1024;

/** How long a reader that wants few events waits at most to hear of the others, in milliseconds. */
const TELL_SKIPPED_MS = 15_000;

/**
 * Sends a session's events with numbers above `seq` until the reader goes or the session has ended. The reader sets the
 * pace: while it reads nothing, nothing is kept for it but its place, and what the log drops meanwhile it misses. With
 * `types` it is sent those alone, and now and then a number without an event, so that it comes back after what it skipped.
 */
export async function streamEvents(
  log: EventLog,
  seq: number,
  stream: EventStream,
  types: ReadonlySet<string> | null = null,
): Promise<void> {
  let cursor = seq;
  /** Number up to which the reader knows. */
  let told = seq;
  let toldAt = performance.now();
  let wake: () => void = () => undefined;
  const stopListening = log.onChange(() => {
    wake();
  });
  stream.onClose(() => {
    wake();
  });
  const send = async (frames: string): Promise<void> => {
    told = cursor;
    toldAt = performance.now();
    await stream.send(frames);
  };
  try {
    while (!stream.closed()) {
      const changed = new Promise<void>((resolve) => (wake = resolve));
      const events = log.after(cursor, BATCH_CHARACTERS);
      cursor = events.at(-1)?.seq ?? cursor;
      const wanted = types === null ? events : events.filter(({ type }) => types.has(type));
      if (wanted.length > 0) {
        await send(wanted.map(frameOf).join('') + (wanted.at(-1) === events.at(-1) ? '' : idFrame(cursor)));
        continue;
      }
      const wait = told < cursor ? toldAt + TELL_SKIPPED_MS - performance.now() : Number.POSITIVE_INFINITY;
      if (wait <= 0 || (log.hasEnded() && told < cursor && events.length === 0)) await send(idFrame(cursor));
      else if (events.length > 0) continue;
      else if (log.hasEnded()) break;
      else await changedOr(changed, wait);
    }
  } finally {
    stopListening();
    stream.end();
  }
}

/** Resolves at the change, or after so many milliseconds. */
async function changedOr(changed: Promise<void>, wait: number): Promise<void> {
  if (wait === Number.POSITIVE_INFINITY) {
    await changed;
    return;
  }
  const pause = new AbortController();
  const { signal } = pause;
  await Promise.race([changed, setTimeout(wait, undefined, { signal, ref: false }).catch(() => undefined)]);
  pause.abort();
}

/** An envelope (TelemetryStreamResponse) as JSON. */
export function envelopeOf({ seq, json }: LoggedEvent): string {
  return `{"seq":${String(seq)},"event":${json}}`;
}

function frameOf(event: LoggedEvent): string {
  return `id: ${String(event.seq)}\ndata: ${envelopeOf(event)}\n\n`;
}

/** Moves a reader's place; it is no event to a reader. */
function idFrame(seq: number): string {
  return `id: ${String(seq)}\n\n`;
}
