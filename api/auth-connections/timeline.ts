import { z } from 'zod';
import { TimelineEvent } from '../../contract/connections.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { defined } from '../defined.ts';
import { pageOf, pageQuery, sendPageHeaders } from '../pages.ts';
import type { ApiParts } from '../parts.ts';

const Query = z.object({ type: TimelineEvent.shape.type.optional(), ...pageQuery });

/** `GET /auth/connections/{id}/timeline`: what happened to a connection, newest first. */
export function registerTimeline(app: ApiServer, { store, answers }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections/:id/timeline',
    schema: {
      operationId: 'listAuthConnectionTimeline',
      tags: ['auth connections'],
      params: IdParams,
      querystring: Query,
      response: { 200: z.array(TimelineEvent), ...refusals(400, 401, 404) },
    },
    handler: async (request, reply) => {
      const caller = keyCallerOf(request);
      const { id } = await answers.find(caller, request.params.id);
      const asked = pageOf(request.query);
      const filter = defined({ type: request.query.type });
      const page = await store.timeline.list(caller.scope, id, { ...asked, ...filter });
      sendPageHeaders(reply, asked, page);
      return page.rows;
    },
  });
}
