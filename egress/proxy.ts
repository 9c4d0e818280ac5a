import type dns from 'node:dns';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestError, Server } from 'proxy-chain';
import { pinnedLookup } from './lookup.ts';
import type { EgressPolicy } from './policy.ts';
import type { ResolvedAddress, Resolver } from './resolve.ts';
import { EgressRefusedError, resolveChecked, systemResolver } from './resolve.ts';
import type { Upstream } from './upstream.ts';
import { bypasses, createAgents, upstreamUrl } from './upstream.ts';

/** How long an upstream may take to open a tunnel, in milliseconds. A browser would wait for it without an end. */
const TUNNEL_TIMEOUT_MS = 20_000;
const NO_TUNNEL = 'HTTP/1.1 504 Gateway Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/** The running guard that browsers use as their HTTP proxy. */
export interface EgressProxy {
  /** `http://127.0.0.1:port`, for `--proxy-server`. */
  url: string;
  /** Sends what comes from now on through this upstream, or straight out for null. Open connections are cut. */
  route(upstream: Upstream | null): void;
  /** Stops listening and cuts open connections. */
  close(): Promise<void>;
}

/** What {@link startEgressProxy} needs. */
export interface EgressProxyDeps {
  policy: EgressPolicy;
  /** Name resolution; the machine's own by default. */
  resolver?: Resolver;
  /** Where everything goes first; straight to its target by default. */
  upstream?: Upstream | null;
  /** Certificate of who vouches for an https upstream; those that Node.js knows by default. */
  upstreamCa?: string;
  /** Told about every refusal: host and range only. */
  onRefused?: (refusal: { host: string; range: string }) => void;
  /** How long an upstream may take to open a tunnel, in milliseconds. Default 20,000. */
  tunnelTimeoutMs?: number;
}

/**
 * Starts the guarded HTTP and CONNECT proxy on a free loopback port. Each request is resolved once, every address is
 * checked, and the connection goes to a checked address; a redirect comes back as a new request and is checked again.
 * Refused destinations answer 403 with the reason as text, names that do not resolve 502.
 *
 * With an upstream, its own address is resolved, checked and pinned like any other. The target is refused all the same when
 * it is, or here resolves to, an address that is not public; a name that only the upstream can resolve is left to it.
 */
export async function startEgressProxy(deps: EgressProxyDeps): Promise<EgressProxy> {
  const resolver = deps.resolver ?? systemResolver;
  let upstream = deps.upstream ?? null;
  // Our own agents: sockets of the process-wide one may have been opened without the guard, or by another way out.
  let agents = createAgents(deps.upstreamCa);
  const tunnels = watchTunnels(deps.tunnelTimeoutMs ?? TUNNEL_TIMEOUT_MS);

  const resolve = (host: string, port: number): Promise<ResolvedAddress[]> =>
    resolveChecked(deps.policy, host, port, resolver);
  /** Throws for a refused target. One that cannot be resolved here may be known to the upstream. */
  const checkTarget = (host: string, port: number): Promise<unknown> =>
    resolve(plainHost(host), port).catch((error: unknown) => {
      if (error instanceof EgressRefusedError) throw error;
    });

  const server = new Server({
    host: '127.0.0.1',
    port: 0,
    prepareRequestFunction: async ({ hostname, port, isHttp, connectionId, request }) => {
      const via = upstream === null || bypasses(upstream, hostname) ? null : upstream;
      const { httpAgent, httpsAgent } = agents;
      try {
        if (via !== null) await checkTarget(hostname, port);
        const addresses = await (via === null ? resolve(hostname, port) : resolve(via.host, via.port));
        if (via !== null && !isHttp) tunnels.opening(connectionId, request.socket);
        return {
          // proxy-chain types the option as the overloaded dns.lookup but hands it to node:net, which wants this shape.
          dnsLookup: pinnedLookup(addresses) as typeof dns.lookup,
          httpAgent,
          httpsAgent,
          ...(via === null ? {} : { upstreamProxyUrl: upstreamUrl(via) }),
        };
      } catch (error) {
        if (error instanceof EgressRefusedError) {
          deps.onRefused?.({ host: error.host, range: error.range });
          throw new RequestError(error.message, 403);
        }
        const what = via === null ? hostname : 'the proxy';
        throw new RequestError(`The name of ${what} could not be resolved.`, 502);
      }
    },
  });
  // A failed request is answered by the proxy itself; without a listener it would also print to the console.
  server.on('requestFailed', () => undefined);
  server.on('tunnelConnectResponded', ({ proxyChainId }: { proxyChainId: number }) => tunnels.settled(proxyChainId));
  server.on('connectionClosed', ({ connectionId }: { connectionId: number }) => tunnels.settled(connectionId));
  await server.listen();
  return {
    url: `http://127.0.0.1:${String(server.port)}`,
    route: (next) => {
      upstream = next;
      const former = agents;
      agents = createAgents(deps.upstreamCa);
      server.closeConnections();
      former.destroy();
    },
    close: async () => {
      agents.destroy();
      await server.close(true);
    },
  };
}

/** Answers for an upstream that does not say that the tunnel is open. (Connections that are just cut would be tried again.) */
function watchTunnels(timeoutMs: number) {
  const timers = new Map<number, NodeJS.Timeout>();
  return {
    opening: (id: number, socket: Pick<Duplex, 'end'>): void => {
      const timer = setTimeout(() => socket.end(NO_TUNNEL), timeoutMs);
      timer.unref();
      timers.set(id, timer);
    },
    settled: (id: number): void => {
      clearTimeout(timers.get(id));
      timers.delete(id);
    },
  };
}

/** A host as browsers read it, so that an odd spelling of an address is told to be one without asking a name server. */
function plainHost(host: string): string {
  const url = `http://${host}/`;
  const read = URL.canParse(url) ? new URL(url).hostname : host;
  return isIP(read.replace(/^\[|\]$/g, '')) === 0 ? host : read;
}
