import { setTimeout } from 'node:timers/promises';
import type { EventStream } from '../../http/event-stream.ts';
import type { EventLog, LoggedEvent } from './event-log.ts';

/** Maximum batch for a reader's socket, in characters: the memory a slow reader can occupy. */
const BATCH_CHARACTERS = 64 * 1024;

/** How often a reader with a filter is sent the position it has reached, in milliseconds. */
const POSITION_INTERVAL_MS = 15_000;

/**
 * Streams a session's events after `seq` until the reader disconnects or the session ends, at the reader's pace: a slow reader
 * occupies no memory, and misses what the log drops in the meantime. With `types`, only those are sent, and now and then an
 * id without an event, so that a reconnecting reader resumes after the skipped ones.
 */
export async function streamEvents(
  log: EventLog,
  seq: number,
  stream: EventStream,
  types: ReadonlySet<string> | null = null,
): Promise<void> {
  let cursor = seq;
  /** The last position sent to the reader, and when. */
  let sent = seq;
  let sentAt = performance.now();
  let wake: () => void = () => undefined;
  const stopListening = log.onChange(() => wake());
  stream.onClose(() => wake());
  const send = async (frames: string): Promise<void> => {
    sent = cursor;
    sentAt = performance.now();
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
      const wait = sent < cursor ? sentAt + POSITION_INTERVAL_MS - performance.now() : Number.POSITIVE_INFINITY;
      if (wait <= 0 || (log.hasEnded() && sent < cursor && events.length === 0)) await send(idFrame(cursor));
      else if (events.length > 0) continue;
      else if (log.hasEnded()) break;
      else await changedOr(changed, wait);
    }
  } finally {
    stopListening();
    stream.end();
  }
}

/** Resolves at the change, or after `wait` milliseconds. */
async function changedOr(changed: Promise<void>, wait: number): Promise<void> {
  if (wait === Number.POSITIVE_INFINITY) return changed;
  const timer = new AbortController();
  const { signal } = timer;
  await Promise.race([changed, setTimeout(wait, undefined, { signal, ref: false }).catch(() => undefined)]);
  timer.abort();
}

/** An event's envelope (TelemetryStreamResponse) as JSON. */
export function envelopeOf({ seq, json }: LoggedEvent): string {
  return `{"seq":${String(seq)},"event":${json}}`;
}

function frameOf(event: LoggedEvent): string {
  return `id: ${String(event.seq)}\ndata: ${envelopeOf(event)}\n\n`;
}

/** Moves the reader's last event id without an event. */
function idFrame(seq: number): string {
  return `id: ${String(seq)}\n\n`;
}
