import { createServer, type IncomingMessage } from 'node:http';
import { HoldfastError } from '../../contract/errors.ts';
import { portOf } from '../../egress/guard.ts';
import { toHoldfastError } from '../../http/errors.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import { loadedExtensions } from '../extensions/loaded-extensions.ts';
import { websocketBaseOf } from '../http/caller.ts';
import type { Session } from '../session/session.ts';
import type { CdpProxy } from './proxy.ts';
import type { SessionTokens } from './token.ts';

/**
 * Some clients let their extension drive the session from inside the browser, by the client's own URL, which browsers mostly
 * may not reach. So requests of a browser with extensions to the host of `request` (of a client that is authorized) are
 * answered here: by the session's CDP endpoint, for its token, and nothing else. The guard checks them like any client's.
 * TLS URLs are not intercepted.
 */
export function serveInBrowserClients(
  session: Session,
  request: IncomingMessage,
  { cdpProxy, tokens }: { cdpProxy: CdpProxy; tokens: SessionTokens },
): void {
  if (loadedExtensions(session.chromium).size === 0) return;
  const base = websocketBaseOf({ headers: request.headers, protocol: 'http' });
  if (!base.startsWith('ws:') || !URL.canParse(base)) return;
  const host = new URL(base);
  const { id } = session.record;
  const server = createServer((_, response) => response.writeHead(404).end());
  server.on('upgrade', (inner: IncomingMessage, socket, head: Buffer) => {
    socket.on('error', () => undefined);
    const url = new URL(inner.url ?? '/', host);
    const admit = async (): Promise<void> => {
      const isOwnEndpoint = url.pathname === `/browsers/${id}/cdp`;
      if (!isOwnEndpoint || !(await tokens.verify(url.searchParams.get('jwt') ?? '', id, 'cdp'))) {
        throw new HoldfastError(
          'unauthorized',
          "Only the session's own cdp_ws_url is reachable from inside its browser",
        );
      }
      cdpProxy.accept(session, inner, socket, head, { keepsSessionActive: false });
    };
    admit().catch((error: unknown) => rejectUpgrade(socket, toHoldfastError(error)));
  });
  session.chromium.egress.answer({ host: host.hostname, port: portOf(host) }, server);
}
