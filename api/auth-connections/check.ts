import { ManagedAuth } from '../../contract/connections.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';

/** `POST /auth/connections/{id}/check`: a health check by hand; works with `health_checks: false`. May take a minute. */
export function registerCheck(app: ApiServer, { connections, answers }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/check',
    schema: {
      operationId: 'checkAuthConnection',
      tags: ['auth connections'],
      params: IdParams,
      response: { 200: ManagedAuth, ...refusals(401, 404, 409) },
    },
    handler: async (request) => {
      const { id } = await answers.find(keyCallerOf(request), request.params.id);
      return answers.present(await answers.settled(await connections.check(id)), 'api_key');
    },
  });
}
