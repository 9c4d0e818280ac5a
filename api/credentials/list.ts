import { z } from 'zod';
import { normalizeDomain } from '../../contract/addresses.ts';
import { Credential } from '../../contract/credentials.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { defined } from '../defined.ts';
import { pageOf, pageQuery, sendPageHeaders } from '../pages.ts';
import type { ApiParts } from '../parts.ts';
import { presentCredential } from './answer.ts';

const Query = z.object({
  domain: z.string().max(260).optional(),
  query: z.string().max(260).optional().describe('Part of the name or of the domain, in any case'),
  ...pageQuery,
});

/** `GET /credentials`: newest first, a bare array with paging headers. */
export function registerListCredentials(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/credentials',
    schema: {
      operationId: 'listCredentials',
      tags: ['credentials'],
      querystring: Query,
      response: { 200: z.array(Credential), ...refusals(400, 401) },
    },
    handler: async (request, reply) => {
      const { domain, query } = request.query;
      const filter = defined({
        domain: domain === undefined ? undefined : (normalizeDomain(domain) ?? domain),
        query: query === '' ? undefined : query,
      });
      const asked = pageOf(request.query);
      const page = await store.credentials.list(keyCallerOf(request).scope, { ...asked, ...filter });
      sendPageHeaders(reply, asked, page);
      return page.rows.map((record) => presentCredential(record, 'list'));
    },
  });
}
