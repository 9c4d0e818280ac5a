import { HoldfastError } from '../../contract/errors.ts';
import { IdParams, NoContent, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';

/** `DELETE /org/api_keys/{id}`: refused from the next request on. The key in use cannot delete itself. */
export function registerDeleteApiKey(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/org/api_keys/:id',
    schema: {
      operationId: 'deleteApiKey',
      tags: ['API keys'],
      params: IdParams,
      response: { 204: NoContent, ...refusals(400, 401, 404) },
    },
    handler: async (request, reply) => {
      const { key, scope } = keyCallerOf(request);
      if (key.id === request.params.id) {
        throw new HoldfastError('cannot_delete_current_key', 'this is the key of the request; use another one');
      }
      if (!(await store.apiKeys.remove(scope, request.params.id))) {
        throw new HoldfastError('not_found', 'no such API key');
      }
      return reply.code(204).send();
    },
  });
}
