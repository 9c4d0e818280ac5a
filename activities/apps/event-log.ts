import { MAX_LOG, MAX_LOG_LINES } from '../../contract/apps.ts';
import type { AppEventQueries, AppSubject } from '../../store/queries/app-events.ts';

/** How long lines are gathered before they are written, in milliseconds. */
const GATHER_MS = 200;

/** Takes what a program says, and writes it in the order in which it came. */
export interface EventLog {
  add(line: { message: string; timestamp: string }): void;
  /** Writes what is left. Resolves when all of it is written. */
  close(): Promise<void>;
}

/** Runs with the log of a subject, all of which is written when it resolves or rejects. */
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

/** Opens the log of a subject. Beyond what is kept of one run, lines are dropped, and one says so. */
function openEventLog(events: Pick<AppEventQueries, 'append'>, subject: AppSubject): EventLog {
  let waiting: { body: { event: 'log'; message: string }; at: Date }[] = [];
  let written: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  let lines = 0;
  let size = 0;

  const flush = (): void => {
    timer = null;
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    // A store that is away for a moment costs these lines, not the run.
    written = written.then(() => events.append(subject, batch)).catch(() => undefined);
  };
  return {
    add: ({ message, timestamp }) => {
      if (lines > MAX_LOG_LINES) return;
      lines += 1;
      size += message.length;
      const isFull = lines > MAX_LOG_LINES || size > MAX_LOG;
      if (isFull) lines = MAX_LOG_LINES + 1;
      const said = isFull ? 'The log is full; what the program says from here on is not kept' : message;
      waiting.push({ body: { event: 'log', message: said }, at: new Date(timestamp) });
      timer ??= setTimeout(flush, GATHER_MS);
    },
    close: async () => {
      if (timer !== null) clearTimeout(timer);
      flush();
      await written;
    },
  };
}
