import { LRUCache } from 'lru-cache';
import type { EventLog } from './event-log.ts';

/** Memory for the events of ended sessions, all together, in bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Ends the logs of sessions, and keeps what they hold readable for as long as there is room. */
export interface EndedLogs {
  keep(sessionId: string, log: EventLog): void;
}

/** The sessions that ended longest ago are emptied first. */
export function createEndedLogs(maxBytes: number = MAX_BYTES): EndedLogs {
  const logs = new LRUCache<string, EventLog>({
    maxSize: maxBytes,
    sizeCalculation: (log) => Math.max(1, log.bytes()),
    dispose: (log) => {
      log.clear();
    },
  });
  return {
    keep: (sessionId, log) => {
      log.end();
      logs.set(sessionId, log);
    },
  };
}
