import { HoldfastError } from '../../contract/errors.ts';
import { Proxy } from '../../contract/proxies.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { presentProxy } from './answer.ts';

/** `GET /proxies/{id}`. Names are not unique, so no path calls a proxy by one. */
export function registerRetrieveProxy(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/proxies/:id',
    schema: {
      operationId: 'retrieveProxy',
      tags: ['proxies'],
      params: IdParams,
      response: { 200: Proxy, ...refusals(401, 404) },
    },
    handler: async (request) => {
      const record = await store.proxies.find(keyCallerOf(request).scope, request.params.id);
      if (record === null) throw new HoldfastError('not_found', 'no such proxy');
      return presentProxy(record);
    },
  });
}
