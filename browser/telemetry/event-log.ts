import { LRUCache } from 'lru-cache';
import type { EventCategory } from '../../contract/telemetry.ts';

/** Limits of a running session's log; the oldest events are dropped first. `bytes` limits memory, not what is sent. */
const LOG_LIMITS = { events: 10_000, bytes: 4 * 1024 * 1024 } as const;
/** Memory of an entry besides its text, in bytes. */
const ENTRY_OVERHEAD = 120;
/** Maximum events dropped by age at a time. */
const MAX_FORGOTTEN_AT_ONCE = 1000;
/** Dropped entries at the start of the array after which it is compacted. */
const COMPACT_AT = 1024;

/** A logged event, as the JSON text sent to readers. */
export interface LoggedEvent {
  seq: number;
  /** Epoch microseconds, never decreasing. */
  ts: number;
  category: EventCategory;
  type: string;
  json: string;
}

/**
 * The latest events of a session, numbered from 1 without gaps. Readers only keep a position, so slow ones cost nothing: they
 * miss dropped events, which they can tell from the numbers.
 */
export interface EventLog {
  append(ts: number, category: EventCategory, type: string, json: string): void;
  /** Events after `seq`, oldest first, up to `characters` in total (at least one event). */
  after(seq: number, characters: number): LoggedEvent[];
  /** All events in the log, oldest first. */
  all(): readonly LoggedEvent[];
  /** Number of the newest event; 0 before the first. */
  lastSeq(): number;
  /** Upper bound of its memory, in bytes. */
  bytes(): number;
  /** Calls back after each event, and at the end; returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  /** No more events follow. */
  end(): void;
  hasEnded(): boolean;
  /** Drops some of the events before `ts` (epoch microseconds); returns whether any events are left. */
  forgetBefore(ts: number): boolean;
  /** Drops all events. */
  clear(): void;
}

/** Creates the event log of a session. */
export function createEventLog(limits: { events: number; bytes: number } = LOG_LIMITS): EventLog {
  let entries: LoggedEvent[] = [];
  let first = 0;
  let last = 0;
  let bytes = 0;
  let ended = false;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  const dropOldest = (): void => {
    const oldest = entries[first];
    if (oldest === undefined) return;
    bytes -= cost(oldest.json);
    first += 1;
    if (first < COMPACT_AT) return;
    entries = entries.slice(first);
    first = 0;
  };
  const count = (): number => entries.length - first;

  return {
    append: (ts, category, type, json) => {
      if (ended) return;
      last += 1;
      entries.push({ seq: last, ts, category, type, json });
      bytes += cost(json);
      while (count() > limits.events || (bytes > limits.bytes && count() > 1)) dropOldest();
      notify();
    },
    after: (seq, characters) => {
      const found: LoggedEvent[] = [];
      let size = 0;
      // Numbers have no gaps, so an event's index follows from that of the newest.
      for (let index = Math.max(first, entries.length - (last - seq)); index < entries.length; index += 1) {
        const entry = entries[index];
        if (entry === undefined) break;
        size += entry.json.length;
        if (found.length > 0 && size > characters) break;
        found.push(entry);
      }
      return found;
    },
    all: () => entries.slice(first),
    lastSeq: () => last,
    bytes: () => bytes,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    end: () => {
      ended = true;
      notify();
    },
    hasEnded: () => ended,
    forgetBefore: (ts) => {
      for (let count = 0; count < MAX_FORGOTTEN_AT_ONCE && (entries[first]?.ts ?? ts) < ts; count += 1) dropOldest();
      return first < entries.length;
    },
    clear: () => {
      entries = [];
      first = 0;
      bytes = 0;
    },
  };
}

/** Strings with a character above U+00FF take two bytes per character. */
function cost(json: string): number {
  return json.length * 2 + ENTRY_OVERHEAD;
}

/** A request for a page of events. Times are epoch microseconds; `offset` is the `nextOffset` of a previous page. */
export interface PageRequest {
  since: number | undefined;
  until: number | undefined;
  categories: ReadonlySet<EventCategory> | null;
  types: ReadonlySet<string> | null;
  order: 'asc' | 'desc';
  limit: number;
  offset: number | undefined;
}

/**
 * Selects a page of events; `nextOffset` is null if it is the last. An offset is the number of the last event read, so that
 * pages stay correct while events are added and dropped: the next page starts after it in ascending order, before it in
 * descending order.
 */
export function pageOfEvents(
  logged: readonly LoggedEvent[],
  request: PageRequest,
): { events: LoggedEvent[]; nextOffset: number | null } {
  const { since, until, categories, types, order, limit } = request;
  // Zero means from the start, in either order.
  const offset = request.offset === 0 ? undefined : request.offset;
  const from = request.offset === undefined ? since : undefined;
  const found: LoggedEvent[] = [];
  for (const event of order === 'asc' ? logged : logged.toReversed()) {
    if (offset !== undefined && (order === 'asc' ? event.seq <= offset : event.seq >= offset)) continue;
    if (from !== undefined && event.ts < from) continue;
    if (until !== undefined && event.ts >= until) continue;
    if (categories !== null && !categories.has(event.category)) continue;
    if (types !== null && !types.has(event.type)) continue;
    if (found.length === limit) return { events: found, nextOffset: found.at(-1)?.seq ?? null };
    found.push(event);
  }
  return { events: found, nextOffset: null };
}

/** Memory limit for the events of all ended sessions together, in bytes. */
const MAX_ENDED_BYTES = 32 * 1024 * 1024;

/** Logs of ended sessions, readable while there is memory for them. */
interface EndedLogs {
  keep(sessionId: string, log: EventLog): void;
  /** Applies {@link EventLog.forgetBefore} to each of them. */
  forgetBefore(ts: number): void;
}

/** Creates the logs of ended sessions; those that ended first are dropped first. */
export function createEndedLogs(maxBytes: number = MAX_ENDED_BYTES): EndedLogs {
  const logs = new LRUCache<string, EventLog>({
    maxSize: maxBytes,
    sizeCalculation: (log) => Math.max(1, log.bytes()),
    dispose: (log) => log.clear(),
  });
  return {
    keep: (sessionId, log) => {
      log.end();
      logs.set(sessionId, log);
    },
    forgetBefore: (ts) => {
      for (const [sessionId, log] of logs.entries()) if (!log.forgetBefore(ts)) logs.delete(sessionId);
    },
  };
}
