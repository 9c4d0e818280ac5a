import type dns from 'node:dns';
import http, { type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestError, Server } from 'proxy-chain';
import type { ProxyFault } from '../contract/proxies.ts';
import { pinnedLookup } from './lookup.ts';
import type { EgressPolicy } from './policy.ts';
import { canonicalHost } from './policy.ts';
import type { ResolvedAddress, Resolver } from './resolve.ts';
import { EgressRefusedError, resolveChecked, systemResolver } from './resolve.ts';
import type { Upstream } from './upstream.ts';
import { bypasses, upstreamUrl } from './upstream.ts';
import { createUpstreamAgents, type UpstreamAgents } from './upstream-agents.ts';

/** How long an upstream may take to open a tunnel, in milliseconds. A browser would wait for it without an end. */
const TUNNEL_TIMEOUT_MS = 20_000;
/** Statuses by which an upstream refuses the user name and password of a tunnel. */
const AUTH_STATUSES: ReadonlySet<number> = new Set([401, 407]);
/** The status by which proxy-chain says the same of a plain request. */
const UPSTREAM_AUTH_FAILED = 597;
const NO_TUNNEL = 'HTTP/1.1 504 Gateway Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/** Told what fails on the way to an upstream; null when a tunnel through it opens. */
export type FaultListener = (fault: ProxyFault | null) => void;

/** The running guard that browsers use as their HTTP proxy. */
export interface EgressProxy {
  /** `http://127.0.0.1:port`, for `--proxy-server`. */
  url: string;
  /**
   * Sends what comes from now on through this upstream, or straight out for null. Open connections are cut. `onFault` is told
   * what fails on the way to this upstream, and null when a tunnel through it opens.
   */
  route(upstream: Upstream | null, onFault?: FaultListener): void;
  /** Has this server answer tunnels to `host:port` from now on, so that they lead nowhere else. */
  answer(place: { host: string; port: number }, server: http.Server): void;
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
  let way = openWay(deps.upstream ?? null, () => undefined, deps.upstreamCa);
  const tunnels = watchTunnels(deps.tunnelTimeoutMs ?? TUNNEL_TIMEOUT_MS, () => way.report('unreachable'));

  const resolve = (host: string, port: number): Promise<ResolvedAddress[]> =>
    resolveChecked(deps.policy, host, port, resolver);
  /** Throws for a refused target. One that cannot be resolved here may be known to the upstream. */
  const checkTarget = (host: string, port: number): Promise<unknown> =>
    resolve(plainHost(host), port).catch((error: unknown) => {
      if (error instanceof EgressRefusedError) throw error;
    });

  const answered = new Map<string, http.Server>();
  const server = new GuardServer({
    host: '127.0.0.1',
    port: 0,
    prepareRequestFunction: async ({ hostname, port, isHttp, connectionId, request }) => {
      const own = isHttp ? undefined : answered.get(placeName(hostname, port));
      if (own !== undefined) return { customConnectServer: own };
      const { upstream, report, direct, agents } = way;
      const via = upstream === null || bypasses(upstream, hostname) ? null : upstream;
      try {
        if (via === null) return { ...pinned(await resolve(hostname, port)), httpAgent: direct };
        await checkTarget(hostname, port);
        const addresses = await resolve(via.host, via.port).catch((error: unknown) => {
          report(error instanceof EgressRefusedError ? 'address_refused' : 'unreachable');
          throw error;
        });
        if (!isHttp) tunnels.opening(connectionId, request.socket);
        return { ...pinned(addresses), ...agents, upstreamProxyUrl: upstreamUrl(via) };
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
  server.onCredentialsRefused = () => way.report('credentials_refused');
  // A failed request is answered by the proxy itself; without a listener it would also print to the console.
  server.on('requestFailed', () => undefined);
  server.on('tunnelConnectFailed', ({ response }: { response: IncomingMessage }) =>
    way.report(AUTH_STATUSES.has(response.statusCode ?? 0) ? 'credentials_refused' : 'target_unreached'),
  );
  server.on('tunnelConnectResponded', ({ proxyChainId }: { proxyChainId: number }) => {
    tunnels.settled(proxyChainId);
    way.report(null);
  });
  server.on('connectionClosed', ({ connectionId }: { connectionId: number }) => tunnels.settled(connectionId));
  await server.listen();
  return {
    url: `http://127.0.0.1:${String(server.port)}`,
    route: (next, onFault = () => undefined) => {
      const former = way;
      way = openWay(next, onFault, deps.upstreamCa);
      server.closeConnections();
      former.close();
    },
    answer: ({ host, port }, own) => void answered.set(placeName(host, port), own),
    close: async () => {
      way.close();
      await server.close(true);
    },
  };
}

/** Where everything goes at one time, with connections of its own. */
interface Way {
  upstream: Upstream | null;
  direct: http.Agent;
  agents: Pick<UpstreamAgents, 'httpAgent' | 'httpsAgent'>;
  report: FaultListener;
  close: () => void;
}

/** Our own agents: sockets of the process-wide one may have been opened without the guard, or by another way out. */
function openWay(upstream: Upstream | null, onFault: FaultListener, upstreamCa: string | undefined): Way {
  let closed = false;
  const report: FaultListener = (fault) => {
    if (!closed) onFault(fault);
  };
  const direct = new http.Agent({ keepAlive: true });
  const { httpAgent, httpsAgent, destroy } = createUpstreamAgents(
    { unreachable: () => report('unreachable'), hungUp: () => report('target_unreached') },
    upstreamCa,
  );
  return {
    upstream,
    direct,
    agents: { httpAgent, httpsAgent },
    report,
    close: () => {
      closed = true;
      direct.destroy();
      destroy();
    },
  };
}

/** Tells when an upstream refuses the credentials of a plain request; of tunnels there is an event. */
class GuardServer extends Server {
  onCredentialsRefused: () => void = () => undefined;

  override failRequest(request: IncomingMessage, error: NodeJS.ErrnoException): void {
    if (error instanceof RequestError && error.statusCode === UPSTREAM_AUTH_FAILED) this.onCredentialsRefused();
    super.failRequest(request, error);
  }
}

/** The one place that a connection may lead to. proxy-chain types the option as the overloaded dns.lookup but hands it to node:net. */
function pinned(addresses: ResolvedAddress[]): { dnsLookup: typeof dns.lookup } {
  return { dnsLookup: pinnedLookup(addresses) as typeof dns.lookup };
}

/** Answers for an upstream that does not say that the tunnel is open. (Connections that are just cut would be tried again.) */
function watchTunnels(timeoutMs: number, onSilent: () => void) {
  const timers = new Map<number, NodeJS.Timeout>();
  return {
    opening: (id: number, socket: Pick<Duplex, 'end'>): void => {
      const timer = setTimeout(() => {
        onSilent();
        socket.end(NO_TUNNEL);
      }, timeoutMs);
      timer.unref();
      timers.set(id, timer);
    },
    settled: (id: number): void => {
      clearTimeout(timers.get(id));
      timers.delete(id);
    },
  };
}

function placeName(host: string, port: number): string {
  return `${canonicalHost(host)} ${String(port)}`;
}

/** A host as browsers read it, so that an odd spelling of an address is told to be one without asking a name server. */
function plainHost(host: string): string {
  const url = `http://${host}/`;
  const read = URL.canParse(url) ? new URL(url).hostname : host;
  return isIP(read.replace(/^\[|\]$/g, '')) === 0 ? host : read;
}
