import { ApiKeyCreate, CreatedApiKey } from '../../contract/api-keys.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { inDays, presentApiKey } from './answer.ts';

/** `POST /org/api_keys`: the only answer beside rotate's that shows the key. A project's credential makes keys of that project. */
export function registerCreateApiKey(app: ApiServer, { store, clock }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/org/api_keys',
    config: { answersSecret: true },
    schema: {
      operationId: 'createApiKey',
      tags: ['API keys'],
      body: ApiKeyCreate,
      response: { 201: CreatedApiKey, ...refusals(400, 401, 403, 404) },
    },
    handler: async (request, reply) => {
      const { key: own, scope } = keyCallerOf(request);
      const { name, days_to_expire: days = null, project_id: projectId } = request.body;
      const { record, key } = await store.apiKeys.create(scope, {
        name,
        expiresAt: inDays(clock(), days),
        projectId: projectId === undefined ? scope.projectId : projectId,
        createdBy: own.createdBy,
      });
      return reply.code(201).send({ ...presentApiKey(record), key });
    },
  });
}
