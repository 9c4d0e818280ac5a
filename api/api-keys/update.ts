import { ApiKey, ApiKeyUpdate } from '../../contract/api-keys.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { presentApiKey } from './answer.ts';

/** `PATCH /org/api_keys/{id}`: a new label. */
export function registerUpdateApiKey(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/org/api_keys/:id',
    schema: {
      operationId: 'updateApiKey',
      tags: ['API keys'],
      params: IdParams,
      body: ApiKeyUpdate,
      response: { 200: ApiKey, ...refusals(400, 401, 404) },
    },
    handler: async (request) => {
      const renamed = await store.apiKeys.rename(keyCallerOf(request).scope, request.params.id, request.body.name);
      if (renamed === null) throw new HoldfastError('not_found', 'no such API key');
      return presentApiKey(renamed);
    },
  });
}
