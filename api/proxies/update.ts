import { HoldfastError } from '../../contract/errors.ts';
import { Proxy, ProxyUpdate } from '../../contract/proxies.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { presentProxy } from './answer.ts';

/** `PATCH /proxies/{id}`: a new name. What refers to the proxy refers to its id, so nothing else changes. */
export function registerUpdateProxy(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/proxies/:id',
    schema: {
      operationId: 'updateProxy',
      tags: ['proxies'],
      params: IdParams,
      body: ProxyUpdate,
      response: { 200: Proxy, ...refusals(400, 401, 404) },
    },
    handler: async (request) => {
      const renamed = await store.proxies.rename(keyCallerOf(request).scope, request.params.id, request.body.name);
      if (renamed === null) throw new HoldfastError('not_found', 'no such proxy');
      return presentProxy(renamed);
    },
  });
}
