import { ManagedAuth } from '../../contract/connections.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { callerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';

/** `GET /auth/connections/{id}`. Answered from the store: no worker is needed. */
export function registerRetrieveConnection(app: ApiServer, { answers }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections/:id',
    config: { access: 'hosted' },
    schema: {
      operationId: 'retrieveAuthConnection',
      tags: ['auth connections'],
      params: IdParams,
      response: { 200: ManagedAuth, ...refusals(401, 404) },
    },
    handler: async (request) => {
      const caller = callerOf(request);
      const { document } = await answers.find(caller, request.params.id);
      return answers.present(document, caller.kind);
    },
  });
}
