import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { serveInBrowserClients } from '../cdp/in-browser-clients.ts';
import type { TokenPurpose } from '../cdp/token.ts';
import { toHoldfastError } from '../../http/errors.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import type { BrowserDeps } from '../deps.ts';

/** WebSocket endpoints of a session, by the last segment of their path. */
const PURPOSE: Record<string, TokenPurpose> = { cdp: 'cdp', bidi: 'bidi', live: 'live' };

/** `GET /browsers/{id}/cdp?jwt=…` as a WebSocket, authorized by the session's token in the URL before the upgrade. */
export function serveWebsockets(server: Server, deps: BrowserDeps): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => undefined);
    accept(request, socket, head).catch((error: unknown) => rejectUpgrade(socket, toHoldfastError(error)));
  });

  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://service');
    const match = /^\/browsers\/(?<id>[^/]+)\/(?<end>cdp|bidi|live)$/.exec(url.pathname);
    const [id, end] = [match?.groups?.['id'], match?.groups?.['end']];
    const purpose = PURPOSE[end ?? ''];
    if (id === undefined || purpose === undefined) {
      throw new HoldfastError('not_found', 'Not a WebSocket endpoint');
    }
    if (!(await deps.tokens.verify(url.searchParams.get('jwt') ?? '', id, purpose))) {
      const message = 'The token in the URL is missing, expired or for another session; get the session for a new one';
      throw new HoldfastError('unauthorized', message);
    }
    const session = deps.registry.byId(id);
    if (session === undefined) throw new HoldfastError('not_found', 'The browser session has ended');
    if (purpose === 'cdp') {
      serveInBrowserClients(session, request, deps);
      deps.cdpProxy.accept(session, request, socket, head);
    } else if (purpose === 'live') deps.liveView.accept(session, request, socket, head);
    else deps.bidiProxy.accept(session, request, socket, head);
  };
}
