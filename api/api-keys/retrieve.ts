import { z } from 'zod';
import { ApiKey } from '../../contract/api-keys.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { QueryFlag } from '../pages.ts';
import type { ApiParts } from '../parts.ts';
import { allKeys } from './all-keys.ts';
import { presentApiKey } from './answer.ts';

/** `GET /org/api_keys/{id}`; with `include_deleted=true` also one that was revoked. */
export function registerRetrieveApiKey(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/org/api_keys/:id',
    schema: {
      operationId: 'retrieveApiKey',
      tags: ['API keys'],
      params: IdParams,
      querystring: z.object({ include_deleted: QueryFlag.optional() }),
      response: { 200: ApiKey, ...refusals(400, 401, 404) },
    },
    handler: async (request) => {
      const { scope } = keyCallerOf(request);
      const { id } = request.params;
      const live = await store.apiKeys.find(scope, id);
      if (live !== null) return presentApiKey(live);
      const deleted = request.query.include_deleted === true ? await allKeys(store, scope) : [];
      const found = deleted.find((key) => key.id === id);
      if (found === undefined) throw new HoldfastError('not_found', 'no such API key');
      return presentApiKey(found);
    },
  });
}
