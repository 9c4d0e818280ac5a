import { z } from 'zod';
import { normalizeDomain } from '../../contract/addresses.ts';
import { ManagedAuth } from '../../contract/connections.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { defined } from '../defined.ts';
import { pageOf, pageQuery, sendPageHeaders } from '../pages.ts';
import type { ApiParts } from '../parts.ts';

const Query = z.object({
  profile_name: z.string().max(255).optional(),
  domain: z.string().max(260).optional(),
  query: z.string().max(260).optional().describe('Part of the domain or of the profile name, in any case'),
  ...pageQuery,
});

/** `GET /auth/connections`: newest first, a bare array with paging headers. */
export function registerListConnections(app: ApiServer, { store, answers }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections',
    schema: {
      operationId: 'listAuthConnections',
      tags: ['auth connections'],
      querystring: Query,
      response: { 200: z.array(ManagedAuth), ...refusals(400, 401) },
    },
    handler: async (request, reply) => {
      const { profile_name: profileName, domain, query } = request.query;
      const filter = defined({
        profileName,
        domain: domain === undefined ? undefined : (normalizeDomain(domain) ?? domain),
        query: query === '' ? undefined : query,
      });
      const asked = pageOf(request.query);
      const page = await store.connections.list(keyCallerOf(request).scope, { ...asked, ...filter });
      sendPageHeaders(reply, asked, page);
      return page.rows.map(({ document }) => answers.present(document, 'api_key'));
    },
  });
}
