import { HoldfastError } from '../../contract/errors.ts';
import { IdParams, NoContent, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';

/** `DELETE /auth/connections/{id}`: ends the workflow, cancels a running flow and closes its browser. Again: 404. */
export function registerDeleteConnection(app: ApiServer, { store, connections, answers }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/auth/connections/:id',
    schema: {
      operationId: 'deleteAuthConnection',
      tags: ['auth connections'],
      params: IdParams,
      response: { 204: NoContent, ...refusals(401, 404) },
    },
    handler: async (request, reply) => {
      const caller = keyCallerOf(request);
      const { id } = await answers.find(caller, request.params.id);
      try {
        await connections.remove(id);
      } catch (error) {
        // The workflow is gone but its row is not (somebody terminated it by hand): what is left goes too.
        if (!(error instanceof HoldfastError) || error.code !== 'not_found') throw error;
        await store.connections.remove(caller.scope, id);
      }
      return reply.code(204).send();
    },
  });
}
