import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { BrowserDeps } from '../deps.ts';
import { projectsOf } from '../http/caller.ts';
import { SessionParams } from './params.ts';

/** `DELETE /browsers/{id or name}`: ends the session. When its profile is to be saved, 204 means that it is saved. */
export function deleteBrowserRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .delete('/browsers/:id', { schema: { params: SessionParams } }, async (request, reply) => {
      const session = deps.registry.running(projectsOf(request), request.params.id);
      await deps.lifecycle.end(session, 'deleted');
      return reply.code(204).send();
    });
}
