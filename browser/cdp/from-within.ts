import { createServer, type IncomingMessage } from 'node:http';
import { HoldfastError } from '../../contract/errors.ts';
import { portOf } from '../../egress/guard.ts';
import { toHoldfastError } from '../../http/errors.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import { loadedInto } from '../extensions/loaded.ts';
import { websocketBaseOf } from '../http/caller.ts';
import type { Session } from '../session/session.ts';
import type { CdpProxy } from './proxy.ts';
import type { SessionTokens } from './token.ts';

/**
 * Some clients have an extension of theirs drive the session from within the browser, by the URL that they have themselves. It
 * mostly leads to an address that browsers may not reach. So what an extension's browser sends to the place of the request (of a
 * client that the token has let in) is answered here: by the CDP endpoint of that session, for its token, and nothing else. The
 * guard judges it like any client. Places behind TLS are reached from the network or not at all.
 */
export function letInFromWithin(
  session: Session,
  request: IncomingMessage,
  { cdpProxy, tokens }: { cdpProxy: CdpProxy; tokens: SessionTokens },
): void {
  if (loadedInto(session.chromium).size === 0) return;
  const base = websocketBaseOf({ headers: request.headers, protocol: 'http' });
  if (!base.startsWith('ws:') || !URL.canParse(base)) return;
  const place = new URL(base);
  const { id } = session.record;
  const server = createServer((_, response) => response.writeHead(404).end());
  server.on('upgrade', (inner: IncomingMessage, socket, head: Buffer) => {
    socket.on('error', () => undefined);
    const url = new URL(inner.url ?? '/', place);
    const admit = async (): Promise<void> => {
      const isOurs = url.pathname === `/browsers/${id}/cdp`;
      if (!isOurs || !(await tokens.verify(url.searchParams.get('jwt') ?? '', id, 'cdp'))) {
        throw new HoldfastError('unauthorized', 'Only the session itself is reached from within, by its cdp_ws_url');
      }
      cdpProxy.accept(session, inner, socket, head, { fromWithin: true });
    };
    admit().catch((error: unknown) => rejectUpgrade(socket, toHoldfastError(error)));
  });
  session.chromium.egress.answer({ host: place.hostname, port: portOf(place) }, server);
}
