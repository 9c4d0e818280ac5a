import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Browser, BrowserListQuery } from '../../contract/browsers.ts';
import type { BrowserDeps } from '../deps.ts';
import { projectsOf, websocketBaseOf } from '../http/caller.ts';
import { browserView } from '../session/view.ts';

const Query = z.looseObject(BrowserListQuery.shape);

/** `GET /browsers`: newest first, running ones unless asked otherwise, in pages told by headers. */
export function listBrowsersRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      '/browsers',
      { schema: { querystring: Query, response: { 200: z.array(Browser) } } },
      async (request, reply) => {
        const { limit, offset, query, include_deleted: includeDeleted } = request.query;
        const status = request.query.status ?? (includeDeleted === true ? 'all' : 'active');
        const records = deps.registry.list(projectsOf(request), { status, query, tags: tagsOf(request.query) });
        const page = records.slice(offset, offset + limit);
        const hasMore = offset + limit < records.length;
        reply.header('x-has-more', String(hasMore));
        reply.header('x-next-offset', String(hasMore ? offset + limit : 0));
        return Promise.all(page.map((record) => browserView(record, websocketBaseOf(request), deps.tokens)));
      },
    );
}

/** `tags[key]=value` pairs of a query. */
function tagsOf(query: Record<string, unknown>): Record<string, string> {
  const tags: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    const key = /^tags\[(.+)\]$/.exec(name)?.[1];
    if (key !== undefined && typeof value === 'string') tags[key] = value;
  }
  return tags;
}
