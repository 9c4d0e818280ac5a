import { z } from 'zod';
import { ConnectionSummary } from '../../contract/connection-summary.ts';
import { TimelineEvent } from '../../contract/connections.ts';
import { principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { pageOf, pageQueryWithOneMore, sendPageHeaders } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { IdParams } from '../response-schemas.ts';

const tags = ['auth connections'];

/** Registers the history of connections: the timeline of one, and statistics over all. */
export function registerConnectionHistory(app: ApiServer, parts: ApiParts): void {
  listTimeline(app, parts);
  summarizeConnections(app, parts);
}

const TimelineQuery = z.object({ type: TimelineEvent.shape.type.optional(), ...pageQueryWithOneMore });

/** `GET /auth/connections/{id}/timeline`: events of a connection, newest first. */
function listTimeline(app: ApiServer, { store, views }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections/:id/timeline',
    schema: {
      operationId: 'listAuthConnectionTimeline',
      tags,
      params: IdParams,
      querystring: TimelineQuery,
      response: { 200: z.array(TimelineEvent) },
    },
    handler: async (request, reply) => {
      const caller = principalCallerOf(request);
      const { id } = await views.find(caller, request.params.id);
      const paging = pageOf(request.query);
      const filter = omitUndefined({ type: request.query.type });
      const page = await store.timeline.list(caller.scope, id, { ...paging, ...filter });
      return sendPageHeaders(reply, paging, page);
    },
  });
}

const HOUR_MS = 3_600_000;
const SummaryQuery = z.object({
  hours: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(168))
    .optional()
    .describe('How far back activity and durations go; 24 when not given'),
});

/** `GET /auth/connections/summary`: statistics of the caller's connections. */
function summarizeConnections(app: ApiServer, { store, clock }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections/summary',
    schema: {
      operationId: 'summarizeAuthConnections',
      tags,
      querystring: SummaryQuery,
      response: { 200: ConnectionSummary },
    },
    handler: (request) => {
      const { hours = 24 } = request.query;
      const since = new Date(clock().getTime() - hours * HOUR_MS);
      return store.connectionSummary.read(principalCallerOf(request).scope, since);
    },
  });
}
