import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { Browser, BrowserRetrieveQuery } from '../../contract/browsers.ts';
import type { BrowserDeps } from '../deps.ts';
import { projectsOf, websocketBaseOf } from '../http/caller.ts';
import { browserView } from '../session/view.ts';
import { SessionParams } from './params.ts';

/** `GET /browsers/{id or name}`: a running session; an ended one only with `include_deleted`. */
export function retrieveBrowserRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      '/browsers/:id',
      { schema: { params: SessionParams, querystring: BrowserRetrieveQuery, response: { 200: Browser } } },
      async (request) => {
        const includeDeleted = request.query.include_deleted === true;
        const record = deps.registry.find(projectsOf(request), request.params.id, includeDeleted);
        return browserView(record, websocketBaseOf(request), deps.tokens);
      },
    );
}
