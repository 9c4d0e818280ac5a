import type dns from 'node:dns';
import { RequestError, Server } from 'proxy-chain';
import type { PrepareRequestFunction } from 'proxy-chain';
import { pinnedLookup } from '../../egress/resolve.ts';

/** A proxy as a caller would have one: it wants a user name and a password, and counts what comes through. */
export interface UpstreamProxy {
  port: number;
  /** `CONNECT host:port` and `GET http://…`, in order. */
  requests: string[];
  close(): Promise<void>;
}

/** User name and password that every {@link startUpstreamProxy} wants; both need encoding in a URL. */
export const UPSTREAM_LOGIN = { username: 'ann@office', password: 'p:w/ %ä"密' };

/** Starts one. `names` it alone can resolve: they lead to this machine. */
export async function startUpstreamProxy(
  names: readonly string[] = [],
  tls?: { key: string; cert: string },
): Promise<UpstreamProxy> {
  const requests: string[] = [];
  const prepareRequestFunction: PrepareRequestFunction = ({ request, username, password, hostname, isHttp }) => {
    requests.push(`${isHttp ? (request.method ?? '') : 'CONNECT'} ${request.url ?? ''}`);
    if (username !== UPSTREAM_LOGIN.username || password !== UPSTREAM_LOGIN.password) {
      throw new RequestError('who are you?', 407);
    }
    if (!names.includes(hostname)) return {};
    return { dnsLookup: pinnedLookup([{ address: '127.0.0.1', family: 4 }]) as typeof dns.lookup };
  };
  const common = { host: '127.0.0.1', port: 0, prepareRequestFunction };
  const server = new Server(tls === undefined ? common : { ...common, serverType: 'https', httpsOptions: tls });
  server.on('requestFailed', () => undefined);
  await server.listen();
  return { port: server.port, requests, close: () => server.close(true) };
}
