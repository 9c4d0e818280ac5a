import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { openEventStream } from '../../http/event-stream.ts';
import { lastEventIdOf } from '../../http/headers.ts';
import type { BrowserDeps } from '../deps.ts';
import { projectsOf } from '../http/caller.ts';
import type { Router } from '../http/router.ts';
import { pageOfEvents } from '../telemetry/event-log.ts';
import { envelopeOf, streamEvents } from '../telemetry/stream.ts';

/** How far back a page reaches by default, in milliseconds. */
const DEFAULT_WINDOW_MS = 5 * 60_000;

/** `/browsers/{id}/telemetry/…`: a session's events, live and retained. */
export function telemetryRoutes({ route }: Router, { registry }: Pick<BrowserDeps, 'registry'>): void {
  // `Last-Event-ID` resumes after that event; `replay=all` starts with the oldest retained one.
  route(BROWSER_ROUTES.streamTelemetry, async ({ request, params, query: { replay, type }, reply }) => {
    const session = registry.running(projectsOf(request), params.id);
    const { log } = session.record.telemetry;
    // Opening the stream counts as activity; reading it does not keep the browser alive.
    session.activity.begin()();
    const seq = resumeFrom(request.headers['last-event-id'], replay, log.lastSeq());
    await streamEvents(log, seq, openEventStream(reply), type === undefined ? null : new Set(type));
    return reply;
  });

  // Also for ended sessions.
  route(BROWSER_ROUTES.listTelemetryEvents, ({ request, params, query, reply }) => {
    const record = registry.find(projectsOf(request), params.id, true);
    const { since, until, category, type, order, limit, offset } = query;
    const now = Date.now();
    const micros = (moment: number | ((now: number) => number)): number =>
      (typeof moment === 'number' ? moment : moment(now)) * 1000;
    const start = since ?? (order === 'asc' ? now - DEFAULT_WINDOW_MS : undefined);
    const { events, nextOffset } = pageOfEvents(record.telemetry.log.all(), {
      since: start === undefined ? undefined : micros(start),
      until: until === undefined ? undefined : micros(until),
      categories: category === undefined ? null : new Set(category),
      types: type === undefined ? null : new Set(type),
      order,
      limit,
      offset,
    });
    reply.header('x-has-more', String(nextOffset !== null));
    reply.header('x-next-offset', String(nextOffset ?? 0));
    return reply.type('application/json; charset=utf-8').send(`[${events.map(envelopeOf).join(',')}]`);
  });
}

/** The event to resume after. `Last-Event-ID` takes precedence over `replay`. */
function resumeFrom(lastEventId: string | string[] | undefined, replay: string | undefined, lastSeq: number): number {
  const seen = lastEventIdOf(lastEventId);
  if (seen !== null && seen <= lastSeq) return seen;
  return replay === 'all' ? 0 : lastSeq;
}
