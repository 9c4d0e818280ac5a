import { z } from 'zod';
import { presentProfile, Profile } from '../../contract/profiles.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { defined } from '../defined.ts';
import { pageOf, pageQuery, sendPageHeaders } from '../pages.ts';
import type { ApiParts } from '../parts.ts';

const Query = z.object({
  name: z.string().max(255).optional().describe('The whole name'),
  query: z.string().max(255).optional().describe('Part of the name, in any case'),
  ...pageQuery,
});

/** `GET /profiles`: newest first, a bare array with paging headers. */
export function registerListProfiles(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/profiles',
    schema: {
      operationId: 'listProfiles',
      tags: ['profiles'],
      querystring: Query,
      response: { 200: z.array(Profile), ...refusals(400, 401) },
    },
    handler: async (request, reply) => {
      const { scope } = keyCallerOf(request);
      const { name, query } = request.query;
      const asked = pageOf(request.query);
      if (name !== undefined && name !== '') {
        const named = await store.profiles.find(scope, name);
        const rows = named?.name === name ? [named].slice(asked.offset) : [];
        sendPageHeaders(reply, asked, { rows, hasMore: false });
        return rows.map(presentProfile);
      }
      const filter = defined({ query: query === '' ? undefined : query });
      const page = await store.profiles.list(scope, { ...asked, ...filter });
      sendPageHeaders(reply, asked, page);
      return page.rows.map(presentProfile);
    },
  });
}
