import http from 'node:http';
import https from 'node:https';
import { canonicalHost } from './policy.ts';
import type { Duplex } from 'node:stream';

/** A user's own proxy. Its address is not trusted more than any other user input. */
export interface Upstream {
  protocol: 'http' | 'https';
  /** Host name or address; IPv6 without brackets. */
  host: string;
  port: number;
  username: string | null;
  /** Never log it. */
  password: string | null;
  /** Hosts that bypass the proxy: `example.com`, or `*.example.com` for all subdomains. */
  bypassHosts: readonly string[];
}

/** The URL of an upstream with its credentials. A secret. */
export function upstreamUrl(upstream: Upstream): string {
  const host = upstream.host.includes(':') ? `[${upstream.host}]` : upstream.host;
  const { username, password } = upstream;
  const login =
    username === null && password === null
      ? ''
      : `${encodeURIComponent(username ?? '')}:${encodeURIComponent(password ?? '')}@`;
  return `${upstream.protocol}://${login}${host}:${String(upstream.port)}`;
}

/** True if `host` bypasses the upstream. */
export function bypasses(upstream: Upstream, host: string): boolean {
  const wanted = canonicalHost(host);
  return upstream.bypassHosts.some((entry) =>
    entry.startsWith('*.') ? wanted.endsWith(canonicalHost(entry.slice(1))) : wanted === canonicalHost(entry),
  );
}

/** Connections to one upstream, kept open between requests. */
export interface UpstreamAgents {
  httpAgent: http.Agent;
  httpsAgent: https.Agent;
  destroy: () => void;
}

/** Callbacks for failed connections to an upstream. */
interface UpstreamWatcher {
  /** The connection failed. */
  unreachable: () => void;
  /** The upstream closed the connection without a response. */
  hungUp: () => void;
}

/** Creates agents for connections to one upstream. `ca` replaces the default CA certificates for an https upstream. */
export function createUpstreamAgents(watcher: UpstreamWatcher, ca?: string): UpstreamAgents {
  const httpAgent = new http.Agent({ keepAlive: true });
  const httpsAgent = new https.Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) });
  const connect = httpAgent.createConnection.bind(httpAgent);
  const connectTls = httpsAgent.createConnection.bind(httpsAgent);
  httpAgent.createConnection = (...args) => watched(connect(...args), 'connect', watcher);
  httpsAgent.createConnection = (...args) => watched(connectTls(...args), 'secureConnect', watcher);
  return {
    httpAgent,
    httpsAgent,
    destroy: () => {
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}

function watched(
  socket: Duplex | null | undefined,
  opened: 'connect' | 'secureConnect',
  { unreachable, hungUp }: UpstreamWatcher,
): Duplex | null | undefined {
  socket?.once('error', unreachable);
  socket?.once(opened, () => {
    socket.off('error', unreachable);
    // We destroy connections, so an `end` comes from the upstream.
    socket.once('end', () => {
      if ('bytesRead' in socket && socket.bytesRead === 0) hungUp();
    });
  });
  return socket;
}
