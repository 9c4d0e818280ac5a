import type { EventCategory } from '../../contract/telemetry.ts';
import type { LoggedEvent } from './event-log.ts';

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
