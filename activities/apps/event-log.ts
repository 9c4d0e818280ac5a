import { MAX_LOG, MAX_LOG_LINES } from '../../contract/apps.ts';
import type { AppEventQueries, AppSubject } from '../../store/queries/app-events.ts';

const FLUSH_DELAY_MS = 200;

/** Writes a program's output in order. */
export interface EventLog {
  add(line: { message: string; timestamp: string }): void;
  /** Flushes the log. Resolves once everything is written. */
  close(): Promise<void>;
}

/** Runs with the log of a subject, which is fully written before this resolves or rejects. */
export async function withEventLog<Result>(
  events: Pick<AppEventQueries, 'append'>,
  subject: AppSubject,
  run: (log: EventLog) => Promise<Result>,
): Promise<Result> {
  const log = openEventLog(events, subject);
  try {
    return await run(log);
  } finally {
    await log.close();
  }
}

/** Opens the log of a subject. Lines beyond the limit of one run are dropped, and a last line says so. */
function openEventLog(events: Pick<AppEventQueries, 'append'>, subject: AppSubject): EventLog {
  let buffer: { body: { event: 'log'; message: string }; at: Date }[] = [];
  let written: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  let lines = 0;
  let size = 0;

  const flush = (): void => {
    timer = null;
    const batch = buffer;
    buffer = [];
    if (batch.length === 0) return;
    // If the store is briefly unavailable, these lines are lost, but the run continues.
    written = written.then(() => events.append(subject, batch)).catch(() => undefined);
  };
  return {
    add: ({ message, timestamp }) => {
      if (lines > MAX_LOG_LINES) return;
      lines += 1;
      size += message.length;
      const isFull = lines > MAX_LOG_LINES || size > MAX_LOG;
      if (isFull) lines = MAX_LOG_LINES + 1;
      const line = isFull ? 'The log is full; further output is dropped' : message;
      buffer.push({ body: { event: 'log', message: line }, at: new Date(timestamp) });
      timer ??= setTimeout(flush, FLUSH_DELAY_MS);
    },
    close: async () => {
      if (timer !== null) clearTimeout(timer);
      flush();
      await written;
    },
  };
}
