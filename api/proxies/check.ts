import { HoldfastError } from '../../contract/errors.ts';
import { Proxy, ProxyCheck, type ProxyStatus } from '../../contract/proxies.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { presentProxy } from './answer.ts';

/**
 * `POST /proxies/{id}/check`: asks for a page through the proxy. Without `url` what is found is kept; with it, it is only
 * answered: the fault may be the target's.
 */
export function registerCheckProxy(app: ApiServer, { store, checkProxy }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/proxies/:id/check',
    schema: {
      operationId: 'checkProxy',
      tags: ['proxies'],
      params: IdParams,
      body: ProxyCheck,
      response: { 200: Proxy, ...refusals(400, 401, 404) },
    },
    handler: async (request) => {
      const { scope } = keyCallerOf(request);
      const { id } = request.params;
      const record = await store.proxies.find(scope, id);
      if (record === null) throw notFound();
      const opened = await store.proxies.open(record.projectId, { id });
      if (opened.outcome !== 'found') throw notFound();
      const url = request.body?.url;
      const status: ProxyStatus = (await checkProxy(opened.proxy, url)) ? 'available' : 'unavailable';
      if (url !== undefined) return { ...presentProxy(record), status };
      const checked = await store.proxies.recordCheck(scope, id, status);
      if (checked === null) throw notFound();
      return presentProxy(checked);
    },
  });
}

function notFound(): HoldfastError {
  return new HoldfastError('not_found', 'no such proxy');
}
