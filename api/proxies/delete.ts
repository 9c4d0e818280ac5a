import { HoldfastError } from '../../contract/errors.ts';
import { IdParams, NoContent, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';

/**
 * `DELETE /proxies/{id}`: destroys the password. Sessions that run keep their way out. Connections keep the reference, so
 * that their logins fail with a reason and never go out by another way than the one that was chosen.
 */
export function registerDeleteProxy(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/proxies/:id',
    schema: {
      operationId: 'deleteProxy',
      tags: ['proxies'],
      params: IdParams,
      response: { 204: NoContent, ...refusals(401, 404) },
    },
    handler: async (request, reply) => {
      const removed = await store.proxies.remove(keyCallerOf(request).scope, request.params.id);
      if (!removed) throw new HoldfastError('not_found', 'no such proxy');
      return reply.code(204).send();
    },
  });
}
