import { z } from 'zod';
import { Proxy } from '../../contract/proxies.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { defined } from '../defined.ts';
import { pageOf, pageQuery, sendPageHeaders } from '../pages.ts';
import type { ApiParts } from '../parts.ts';
import { presentProxy } from './answer.ts';

const Query = z.object({
  name: z.string().max(255).optional().describe('The whole name'),
  query: z.string().max(260).optional().describe('Part of the name or of the host, in any case, or the whole id'),
  ...pageQuery,
});

/** `GET /proxies`: newest first, a bare array with paging headers. */
export function registerListProxies(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/proxies',
    schema: {
      operationId: 'listProxies',
      tags: ['proxies'],
      querystring: Query,
      response: { 200: z.array(Proxy), ...refusals(400, 401) },
    },
    handler: async (request, reply) => {
      const { name, query } = request.query;
      const asked = pageOf(request.query);
      const filter = defined({ name, query: query === '' ? undefined : query });
      const page = await store.proxies.list(keyCallerOf(request).scope, { ...asked, ...filter });
      sendPageHeaders(reply, asked, page);
      return page.rows.map(presentProxy);
    },
  });
}
