import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { ApiSettings } from './context.ts';

/** Tells a request's address where Fastify does not: of upgrades, and of what breaks before it has a route. */
export function createClientAddress({ trustProxy = false }: ApiSettings): (request: IncomingMessage) => string {
  const isTrusted =
    typeof trustProxy === 'boolean'
      ? () => trustProxy
      : proxyAddress.compile(trustProxy.split(',').map((range) => range.trim()));
  return (request) => proxyAddress(request, isTrusted);
}
