import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { TelemetryEventsQuery } from '../../contract/telemetry-queries.ts';
import type { BrowserDeps } from '../deps.ts';
import { projectsOf } from '../http/caller.ts';
import { pageOfEvents } from '../telemetry/event-log.ts';
import { envelopeOf } from '../telemetry/stream.ts';
import { SessionParams } from './params.ts';

/** How far back a page goes that names no start, in milliseconds. */
const DEFAULT_WINDOW_MS = 5 * 60_000;

/** `GET /browsers/{id}/telemetry/events`: what is kept of a session's events, in pages; of an ended session too. */
export function telemetryEventsRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      '/browsers/:id/telemetry/events',
      { schema: { params: SessionParams, querystring: TelemetryEventsQuery } },
      async (request, reply) => {
        const record = deps.registry.find(projectsOf(request), request.params.id, true);
        const { since, until, category, type, order, limit, offset } = request.query;
        const now = Date.now();
        const micros = (moment: number | ((now: number) => number)): number =>
          (typeof moment === 'number' ? moment : moment(now)) * 1000;
        const start = since ?? (order === 'asc' ? now - DEFAULT_WINDOW_MS : undefined);
        const { events, nextOffset } = pageOfEvents(record.telemetry.log.kept(), {
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
      },
    );
}
