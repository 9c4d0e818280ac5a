import type dns from 'node:dns';
import http, { type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestError, Server } from 'proxy-chain';
import type { ProxyFault } from '../contract/proxies.ts';
import {
  pinnedLookup,
  type ResolvedAddress,
  type Resolver,
  EgressRefusedError,
  resolveChecked,
  systemResolver,
} from './resolve.ts';
import type { EgressPolicy } from './policy.ts';
import { canonicalHost } from './policy.ts';
import { type Upstream, bypasses, upstreamUrl, createUpstreamAgents, type UpstreamAgents } from './upstream.ts';

/** How long an upstream may take to open a tunnel, in milliseconds. A browser would wait forever. */
const TUNNEL_TIMEOUT_MS = 20_000;
/** Statuses of an upstream that rejects the credentials of a tunnel. */
const AUTH_STATUSES: ReadonlySet<number> = new Set([401, 407]);
/** proxy-chain's status for the same on a plain request. */
const UPSTREAM_AUTH_FAILED = 597;
const NO_TUNNEL = 'HTTP/1.1 504 Gateway Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/** Receives failures of the connection to an upstream, and null when a tunnel through it opens. */
export type FaultListener = (fault: ProxyFault | null) => void;

/** A running egress proxy. */
export interface EgressProxy {
  /** `http://127.0.0.1:port`, for `--proxy-server`. */
  url: string;
  /** Routes new connections through this upstream, or directly if null. Open connections are closed. */
  route(upstream: Upstream | null, onFault?: FaultListener): void;
  /** Lets a local server handle all tunnels to `host:port`. */
  answer(place: { host: string; port: number }, server: http.Server): void;
  /** Stops listening and closes open connections. */
  close(): Promise<void>;
}

/** What {@link startEgressProxy} needs. */
export interface EgressProxyDeps {
  policy: EgressPolicy;
  /** Default: the system resolver. */
  resolver?: Resolver;
  /** The initial upstream; default: none. */
  upstream?: Upstream | null;
  /** CA certificate for an https upstream; default: those of Node.js. */
  upstreamCa?: string;
  /** Called for every refusal, with host and range only. */
  onRefused?: (refusal: { host: string; range: string }) => void;
  /** How long an upstream may take to open a tunnel, in milliseconds. Default 20,000. */
  tunnelTimeoutMs?: number;
}

/**
 * Starts the guarded HTTP and CONNECT proxy on a free loopback port. Each request's host is resolved once, every address is checked,
 * and the connection uses a checked address; redirects are new requests and are checked again. Refused destinations get 403 with the
 * reason, unresolvable names 502.
 *
 * The address of an upstream is resolved, checked and pinned as well. The target is still refused if it is, or locally resolves to,
 * an address that is not public; a name that only the upstream can resolve is left to it.
 */
export async function startEgressProxy(deps: EgressProxyDeps): Promise<EgressProxy> {
  const resolver = deps.resolver ?? systemResolver;
  let egress = openEgress(deps.upstream ?? null, () => undefined, deps.upstreamCa);
  const tunnels = createTunnelTimers(deps.tunnelTimeoutMs ?? TUNNEL_TIMEOUT_MS, () => egress.report('unreachable'));

  const resolve = (host: string, port: number): Promise<ResolvedAddress[]> =>
    resolveChecked(deps.policy, host, port, resolver);
  /** Throws for a refused target. The upstream may know a name that cannot be resolved here. */
  const checkTarget = (host: string, port: number): Promise<unknown> =>
    resolve(canonicalAddress(host), port).catch((error: unknown) => {
      if (error instanceof EgressRefusedError) throw error;
    });

  const localServers = new Map<string, http.Server>();
  const server = new GuardServer({
    host: '127.0.0.1',
    port: 0,
    prepareRequestFunction: async ({ hostname, port, isHttp, connectionId, request }) => {
      const own = isHttp ? undefined : localServers.get(hostKey(hostname, port));
      if (own !== undefined) return { customConnectServer: own };
      const { upstream, report, direct, agents } = egress;
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
  server.onCredentialsRefused = () => egress.report('credentials_refused');
  // The proxy answers failed requests itself; without a listener it also prints them.
  server.on('requestFailed', () => undefined);
  server.on('tunnelConnectFailed', ({ response }: { response: IncomingMessage }) =>
    egress.report(AUTH_STATUSES.has(response.statusCode ?? 0) ? 'credentials_refused' : 'target_unreached'),
  );
  server.on('tunnelConnectResponded', ({ proxyChainId }: { proxyChainId: number }) => {
    tunnels.settled(proxyChainId);
    egress.report(null);
  });
  server.on('connectionClosed', ({ connectionId }: { connectionId: number }) => tunnels.settled(connectionId));
  await server.listen();
  return {
    url: `http://127.0.0.1:${String(server.port)}`,
    route: (next, onFault = () => undefined) => {
      const former = egress;
      egress = openEgress(next, onFault, deps.upstreamCa);
      server.closeConnections();
      former.close();
    },
    answer: ({ host, port }, own) => void localServers.set(hostKey(host, port), own),
    close: async () => {
      egress.close();
      await server.close(true);
    },
  };
}

/** The current route, with connections of its own. */
interface Egress {
  upstream: Upstream | null;
  direct: http.Agent;
  agents: Pick<UpstreamAgents, 'httpAgent' | 'httpsAgent'>;
  report: FaultListener;
  close: () => void;
}

/** Uses separate agents: sockets of the global one may have been opened without the guard, or through another upstream. */
function openEgress(upstream: Upstream | null, onFault: FaultListener, upstreamCa: string | undefined): Egress {
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

/** Reports when an upstream rejects the credentials of a plain request; for tunnels there is an event. */
class GuardServer extends Server {
  onCredentialsRefused: () => void = () => undefined;

  override failRequest(request: IncomingMessage, error: NodeJS.ErrnoException): void {
    if (error instanceof RequestError && error.statusCode === UPSTREAM_AUTH_FAILED) this.onCredentialsRefused();
    super.failRequest(request, error);
  }
}

/** Pins a connection to its addresses. proxy-chain types the option as dns.lookup but passes it to node:net. */
function pinned(addresses: ResolvedAddress[]): { dnsLookup: typeof dns.lookup } {
  return { dnsLookup: pinnedLookup(addresses) as typeof dns.lookup };
}

/** Responds on behalf of an upstream that does not open a tunnel in time. (Browsers retry connections that are just closed.) */
function createTunnelTimers(timeoutMs: number, onSilent: () => void) {
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

function hostKey(host: string, port: number): string {
  return `${canonicalHost(host)} ${String(port)}`;
}

/** Normalizes a host as browsers do, so that unusual spellings of addresses are recognized without DNS. */
function canonicalAddress(host: string): string {
  const url = `http://${host}/`;
  const read = URL.canParse(url) ? new URL(url).hostname : host;
  return isIP(read.replace(/^\[|\]$/g, '')) === 0 ? host : read;
}
