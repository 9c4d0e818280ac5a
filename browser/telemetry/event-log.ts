import { LRUCache } from 'lru-cache';
import type { EventCategory } from '../../contract/telemetry.ts';

/** How much of a running session's events is kept: the oldest go first. `bytes` bounds memory, not what is sent. */
const LOG_BOUNDS = { events: 10_000, bytes: 4 * 1024 * 1024 } as const;
/** What one entry costs beside its text, in bytes. */
const ENTRY_OVERHEAD = 120;
/** Most events that go by their age at a time. */
const FORGOTTEN_AT_ONCE = 1000;
/** When this many removed entries lead the array, they are cut off. */
const COMPACT_AT = 1024;

/** One event as it is kept: the text that every reader is sent. */
export interface LoggedEvent {
  seq: number;
  /** Unix microseconds; never less than that of the event before. */
  ts: number;
  category: EventCategory;
  type: string;
  json: string;
}

/**
 * The latest events of one session, numbered from 1 without gaps. Readers hold a number and come back for more, so that a
 * slow one costs nothing: what it misses is gone, and its next number says so.
 */
export interface EventLog {
  append(ts: number, category: EventCategory, type: string, json: string): void;
  /** Events with a number above `seq`, oldest first, of up to so many characters together (at least one event). */
  after(seq: number, characters: number): LoggedEvent[];
  /** All that is kept, oldest first. */
  kept(): readonly LoggedEvent[];
  /** Number of the newest event; 0 before the first. */
  lastSeq(): number;
  /** Upper bound of the memory that it takes, in bytes. */
  bytes(): number;
  /** Calls back after each event, and at the end; the answer ends that. */
  onChange(listener: () => void): () => void;
  /** No event follows. */
  end(): void;
  hasEnded(): boolean;
  /** Forgets what happened before a moment (Unix microseconds), so many events at most; answers whether any is left. */
  forgetBefore(ts: number): boolean;
  /** Forgets what is kept. */
  clear(): void;
}

export function createEventLog(bounds: { events: number; bytes: number } = LOG_BOUNDS): EventLog {
  let entries: LoggedEvent[] = [];
  let first = 0;
  let last = 0;
  let bytes = 0;
  let ended = false;
  const listeners = new Set<() => void>();
  const tell = (): void => {
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
      while (count() > bounds.events || (bytes > bounds.bytes && count() > 1)) dropOldest();
      tell();
    },
    after: (seq, characters) => {
      const found: LoggedEvent[] = [];
      let size = 0;
      // Numbers have no gaps: the place of one follows from that of the newest.
      for (let index = Math.max(first, entries.length - (last - seq)); index < entries.length; index += 1) {
        const entry = entries[index];
        if (entry === undefined) break;
        size += entry.json.length;
        if (found.length > 0 && size > characters) break;
        found.push(entry);
      }
      return found;
    },
    kept: () => entries.slice(first),
    lastSeq: () => last,
    bytes: () => bytes,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    end: () => {
      ended = true;
      tell();
    },
    hasEnded: () => ended,
    forgetBefore: (ts) => {
      for (let count = 0; count < FORGOTTEN_AT_ONCE && (entries[first]?.ts ?? ts) < ts; count += 1) dropOldest();
      return first < entries.length;
    },
    clear: () => {
      entries = [];
      first = 0;
      bytes = 0;
    },
  };
}

/** A text with a character above U+00FF takes two bytes for each. */
function cost(json: string): number {
  return json.length * 2 + ENTRY_OVERHEAD;
}

/** What a page is made of. Times are Unix microseconds; `offset` is what an earlier page gave as its next. */
export interface PageRequest {
  since: number | undefined;
  until: number | undefined;
  categories: ReadonlySet<EventCategory> | null;
  types: ReadonlySet<string> | null;
  order: 'asc' | 'desc';
  limit: number;
  offset: number | undefined;
}

/** One page, and where the next begins; null when there is none. */
export interface EventPage {
  events: LoggedEvent[];
  nextOffset: number | null;
}

/**
 * Cuts a page out of the events that are kept. An offset is the number of the last event that was read, so that a page
 * stays right while new events come and old ones go: upwards the next page begins after it, downwards before it.
 */
export function pageOfEvents(kept: readonly LoggedEvent[], request: PageRequest): EventPage {
  const { since, until, categories, types, order, limit } = request;
  // Zero stands for "from the start", whichever that is.
  const offset = request.offset === 0 ? undefined : request.offset;
  const from = request.offset === undefined ? since : undefined;
  const found: LoggedEvent[] = [];
  for (const event of order === 'asc' ? kept : kept.toReversed()) {
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

/** Memory for the events of ended sessions, all together, in bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Ends the logs of sessions, and keeps what they hold readable for as long as there is room. */
export interface EndedLogs {
  keep(sessionId: string, log: EventLog): void;
  /** {@link EventLog.forgetBefore}, for each of them. */
  forgetBefore(ts: number): void;
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
    forgetBefore: (ts) => {
      for (const [sessionId, log] of logs.entries()) if (!log.forgetBefore(ts)) logs.delete(sessionId);
    },
  };
}
