import http from 'node:http';
import type dns from 'node:dns';
import { RequestError, Server } from 'proxy-chain';
import { pinnedLookup } from './lookup.ts';
import type { EgressPolicy } from './policy.ts';
import type { Resolver } from './resolve.ts';
import { EgressRefusedError, resolveChecked, systemResolver } from './resolve.ts';

/** The running guard that browsers use as their HTTP proxy. */
export interface EgressProxy {
  /** `http://127.0.0.1:port`, for `--proxy-server`. */
  url: string;
  /** Stops listening and cuts open connections. */
  close(): Promise<void>;
}

/** What {@link startEgressProxy} needs. */
export interface EgressProxyDeps {
  policy: EgressPolicy;
  /** Name resolution; the machine's own by default. */
  resolver?: Resolver;
  /** Told about every refusal: host and range only. */
  onRefused?: (refusal: { host: string; range: string }) => void;
}

/**
 * Starts the guarded HTTP and CONNECT proxy on a free loopback port. Each request is resolved once, every address is
 * checked, and the connection goes to a checked address; a redirect comes back as a new request and is checked again.
 * Refused destinations answer 403 with the reason as text, names that do not resolve 502.
 */
export async function startEgressProxy(deps: EgressProxyDeps): Promise<EgressProxy> {
  const resolver = deps.resolver ?? systemResolver;
  // Our own agent: sockets of the process-wide one may have been opened without the guard.
  const httpAgent = new http.Agent({ keepAlive: true });
  const server = new Server({
    host: '127.0.0.1',
    port: 0,
    prepareRequestFunction: async ({ hostname, port }) => {
      try {
        const addresses = await resolveChecked(deps.policy, hostname, port, resolver);
        // proxy-chain types the option as the overloaded dns.lookup but hands it to node:net, which wants this shape.
        return { dnsLookup: pinnedLookup(addresses) as typeof dns.lookup, httpAgent };
      } catch (error) {
        if (error instanceof EgressRefusedError) {
          deps.onRefused?.({ host: error.host, range: error.range });
          throw new RequestError(error.message, 403);
        }
        throw new RequestError(`The name of ${hostname} could not be resolved.`, 502);
      }
    },
  });
  // A failed request is answered by the proxy itself; without a listener it would also print to the console.
  server.on('requestFailed', () => undefined);
  await server.listen();
  return {
    url: `http://127.0.0.1:${String(server.port)}`,
    close: async () => {
      httpAgent.destroy();
      await server.close(true);
    },
  };
}
