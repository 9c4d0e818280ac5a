import { Proxy, ProxyCreate } from '../../contract/proxies.ts';
import { isForbiddenHost } from '../auth-connections/address-rules.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { invalidField } from '../../contract/errors.ts';
import type { ApiParts } from '../parts.ts';
import { writeScope } from '../scope.ts';
import { presentProxy } from './answer.ts';

/** `POST /proxies`: keeps a proxy of the caller's own; its password is sealed and no answer ever shows it. */
export function registerCreateProxy(app: ApiServer, { store, addressPolicy }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/proxies',
    schema: {
      operationId: 'createProxy',
      tags: ['proxies'],
      body: ProxyCreate,
      response: { 201: Proxy, ...refusals(400, 401) },
    },
    handler: async (request, reply) => {
      const { name, protocol, bypass_hosts: bypassHosts, config } = request.body;
      // A name is checked when it resolves, at each connection.
      if (isForbiddenHost(addressPolicy, config.host, config.port)) {
        throw invalidField('config.host', 'is a private address; the operator can list it as an allowed host');
      }
      const scope = await writeScope(store, keyCallerOf(request).scope);
      const record = await store.proxies.create(scope, {
        name: name ?? null,
        protocol,
        host: config.host,
        port: config.port,
        username: config.username ?? null,
        password: config.password ?? null,
        bypassHosts: bypassHosts ?? [],
      });
      return reply.code(201).send(presentProxy(record));
    },
  });
}
