import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';

/** Connections to one upstream, kept open between requests. */
export interface UpstreamAgents {
  httpAgent: http.Agent;
  httpsAgent: https.Agent;
  destroy(): void;
}

/**
 * Agents whose connections belong to one upstream alone. `onUnreachable` is told when a connection was not made, or was hung
 * up before a word came back. `ca`: who vouches for an https upstream, instead of the usual ones.
 */
export function createUpstreamAgents(onUnreachable: () => void, ca?: string): UpstreamAgents {
  const httpAgent = new http.Agent({ keepAlive: true });
  const httpsAgent = new https.Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) });
  const [connect, connectSafely] = [httpAgent.createConnection, httpsAgent.createConnection];
  httpAgent.createConnection = (...args) => watched(connect.apply(httpAgent, args), 'connect', onUnreachable);
  httpsAgent.createConnection = (...args) =>
    watched(connectSafely.apply(httpsAgent, args), 'secureConnect', onUnreachable);
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
  onUnreachable: () => void,
): Duplex | null | undefined {
  socket?.once('error', onUnreachable);
  socket?.once(opened, () => {
    socket.off('error', onUnreachable);
    // We end connections by destroying them, so an `end` comes from over there.
    socket.once('end', () => {
      if ('bytesRead' in socket && socket.bytesRead === 0) onUnreachable();
    });
  });
  return socket;
}
