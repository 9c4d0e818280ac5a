import { request as httpRequest, STATUS_CODES, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HoldfastError } from '../../contract/errors.ts';
import { toHoldfastError } from '../../http/errors.ts';
import { rejectUpgrade } from '../../http/sockets.ts';
import type { AuditTrail } from '../audit-log/audit-trail.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { countCall, createClientAddress } from '../rate-limit.ts';
import { forwardedHeaders, hasBrowserToken, isBrowserPath } from './forwarding.ts';

/** How long the browser service may take to accept a WebSocket, in milliseconds. */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Tunnels WebSockets of `/browsers/{id}/…?jwt=…` to the browser service, byte for byte. The browser service verifies the token, and
 * its error responses reach the caller unchanged. Backpressure passes through. Each upgrade is audited once it is answered.
 */
export function tunnelBrowserWebSockets(app: ApiServer, parts: ApiParts, trail: AuditTrail): void {
  const open = new Set<Duplex>();
  const addressOf = createClientAddress(parts.settings);
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // Destroying one side closes the other through its close event.
    socket.on('error', () => socket.destroy());
    const ip = addressOf(request);
    const audit = createUpgradeAudit(request, ip, parts, trail);
    const reject = (error: unknown): void => {
      const known = toHoldfastError(error);
      audit(known.status);
      rejectUpgrade(socket, known);
    };
    admit(request, ip, parts).then(() => connect(request, socket, head, { parts, audit, reject }), reject);
  });
  // The server does not close upgraded sockets.
  app.addHook('preClose', (done) => {
    for (const socket of open) socket.destroy();
    done();
  });
}

/** Returns a function that audits the response to an upgrade, once. */
function createUpgradeAudit(request: IncomingMessage, ip: string, { clock }: ApiParts, trail: AuditTrail) {
  const at = clock();
  const startedAt = performance.now();
  const { path, query } = splitUrl(request);
  const endpoint = /^\/browsers\/[^/]+\/(\w+)$/.exec(path)?.[1];
  const route = endpoint === undefined ? '/browsers/*' : `/browsers/:id/${endpoint}`;
  let isAudited = false;
  return (status: number): void => {
    if (isAudited) return;
    isAudited = true;
    const { url = '', headers, method = '' } = request;
    const call = { at, ip, method, url, route, headers, status, durationMs: performance.now() - startedAt };
    const token = query.get('jwt');
    if (status < 400 && token !== null) trail.recordBrowserToken(token, call);
    else trail.recordAnonymous(call);
  };
}

async function admit(request: IncomingMessage, ip: string, { limits }: ApiParts): Promise<void> {
  await countCall(limits.byAddress, ip);
  const { path, query } = splitUrl(request);
  if (!isBrowserPath(path))
    throw new HoldfastError('not_found', 'WebSocket route not found; use the URL from the session');
  if (!hasBrowserToken(Object.fromEntries(query)))
    throw new HoldfastError('unauthorized', 'The URL has no `jwt`; use the URL from the session');
}

function splitUrl({ url = '' }: IncomingMessage): { path: string; query: URLSearchParams } {
  const [path = '', query = ''] = url.split('?', 2);
  return { path, query: new URLSearchParams(query) };
}

interface Upgrade {
  parts: ApiParts;
  audit: (status: number) => void;
  reject: (error: unknown) => void;
}

function connect(request: IncomingMessage, socket: Duplex, head: Buffer, { parts, audit, reject }: Upgrade): void {
  const { settings } = parts;
  const upstream = new URL(settings.browserBaseUrl);
  const send = upstream.protocol === 'https:' ? httpsRequest : httpRequest;
  const { host: _host, ...headers } = forwardedHeaders(settings, request.headers, null);
  const outgoing = send(new URL(request.url ?? '/', upstream), {
    method: 'GET',
    headers,
    timeout: CONNECT_TIMEOUT_MS,
    agent: false,
  });
  const fail = () => {
    outgoing.destroy();
    reject(new HoldfastError('browser_error', 'The browser service does not respond; try again'));
  };
  outgoing.on('timeout', fail);
  outgoing.on('error', fail);
  socket.on('close', () => outgoing.destroy());
  outgoing.on('upgrade', (response: IncomingMessage, remote: Socket, remoteHead: Buffer) => {
    outgoing.removeListener('timeout', fail);
    audit(101);
    remote.setTimeout(0);
    remote.setNoDelay(true);
    socket.write(serializeHead(response));
    if (remoteHead.length > 0) socket.write(remoteHead);
    if (head.length > 0) remote.write(head);
    join(socket, remote);
  });
  outgoing.on('response', (response: IncomingMessage) => {
    audit(response.statusCode ?? 502);
    // Not a WebSocket: forward the error response and close.
    socket.write(serializeHead(response, ['connection: close']));
    response.pipe(socket);
  });
  outgoing.end();
}

function join(local: Duplex, remote: Duplex): void {
  local.pipe(remote);
  remote.pipe(local);
  local.on('close', () => remote.destroy());
  remote.on('close', () => local.destroy());
  remote.on('error', () => remote.destroy());
}

/** The status line and headers of a response, as sent on the wire. */
function serializeHead(response: IncomingMessage, added: string[] = []): string {
  const status = response.statusCode ?? 502;
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (let index = 0; index + 1 < response.rawHeaders.length; index += 2) {
    const name = response.rawHeaders[index] ?? '';
    if (added.length > 0 && ['connection', 'transfer-encoding', 'keep-alive'].includes(name.toLowerCase())) continue;
    lines.push(`${name}: ${response.rawHeaders[index + 1] ?? ''}`);
  }
  return `${[...lines, ...added].join('\r\n')}\r\n\r\n`;
}
