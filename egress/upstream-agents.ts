import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';

/** Connections to one upstream, kept open between requests. */
export interface UpstreamAgents {
  httpAgent: http.Agent;
  httpsAgent: https.Agent;
  destroy: () => void;
}

/** Who is told what becomes of connections to an upstream. */
export interface UpstreamWatcher {
  /** The connection was not made. */
  unreachable: () => void;
  /** It was made, and hung up before a word came back. */
  hungUp: () => void;
}

/**
 * Agents whose connections belong to one upstream alone. `ca`: who vouches for an https upstream, instead of the usual ones.
 */
export function createUpstreamAgents(watcher: UpstreamWatcher, ca?: string): UpstreamAgents {
  const httpAgent = new http.Agent({ keepAlive: true });
  const httpsAgent = new https.Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) });
  const connect = httpAgent.createConnection.bind(httpAgent);
  const connectSafely = httpsAgent.createConnection.bind(httpsAgent);
  httpAgent.createConnection = (...args) => watched(connect(...args), 'connect', watcher);
  httpsAgent.createConnection = (...args) => watched(connectSafely(...args), 'secureConnect', watcher);
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
    // We end connections by destroying them, so an `end` comes from over there.
    socket.once('end', () => {
      if ('bytesRead' in socket && socket.bytesRead === 0) hungUp();
    });
  });
  return socket;
}
