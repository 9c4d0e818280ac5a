import { request as httpRequest, STATUS_CODES, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HoldfastError } from '../contract/errors.ts';
import { toHoldfastError } from '../http/errors.ts';
import { rejectUpgrade } from '../http/sockets.ts';
import type { AuditTrail } from './audit-trail.ts';
import { hasBrowserToken, headersForBrowsers, staysBelowBrowsers } from './browser-service.ts';
import { createClientAddress } from './client-address.ts';
import type { ApiServer } from './context.ts';
import type { ApiParts } from './parts.ts';
import { countCall } from './rate-limit.ts';

/** How long the browser service may take to accept a websocket, in milliseconds. */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Carries websockets of `/browsers/{id}/…?jwt=…` to the browser service, byte for byte: the token in the URL is checked
 * there, and its refusals reach the caller as they are. Nothing is buffered: a slow side slows the other. Each leaves a row in
 * the audit log when it is answered.
 */
export function tunnelBrowserSockets(app: ApiServer, parts: ApiParts, trail: AuditTrail): void {
  const open = new Set<Duplex>();
  const addressOf = createClientAddress(parts.settings);
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // A side that vanishes ends the other by its close event.
    socket.on('error', () => socket.destroy());
    const ip = addressOf(request);
    const note = audited(request, ip, parts, trail);
    const refuse = (error: unknown): void => {
      const known = toHoldfastError(error);
      note(known.status);
      rejectUpgrade(socket, known);
    };
    admit(request, ip, parts).then(() => connect(request, socket, head, { parts, note, refuse }), refuse);
  });
  // Taken-over sockets are no longer the server's to close.
  app.addHook('preClose', (done) => {
    for (const socket of open) socket.destroy();
    done();
  });
}

/** Notes the answer to an upgrade, once. */
function audited(request: IncomingMessage, ip: string, { clock }: ApiParts, trail: AuditTrail) {
  const at = clock();
  const began = performance.now();
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const end = /^\/browsers\/[^/]+\/(\w+)$/.exec(path)?.[1];
  const route = end === undefined ? '/browsers/*' : `/browsers/:id/${end}`;
  let isNoted = false;
  return (status: number): void => {
    if (isNoted) return;
    isNoted = true;
    const { url = '', headers, method = '' } = request;
    const call = { at, ip, method, url, route, headers, status, durationMs: performance.now() - began };
    const token = new URLSearchParams(query).get('jwt');
    if (status < 400 && token !== null) trail.noteBrowserToken(token, call);
    else trail.noteStranger(call);
  };
}

async function admit(request: IncomingMessage, ip: string, { limits }: ApiParts): Promise<void> {
  await countCall(limits.byAddress, ip);
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  if (!staysBelowBrowsers(path))
    throw new HoldfastError('not_found', 'WebSocket route not found; use the URL as the session gave it');
  if (!hasBrowserToken(Object.fromEntries(new URLSearchParams(query)))) {
    throw new HoldfastError('unauthorized', 'Use the URL as the session gave it, with its `jwt`');
  }
}

interface Passing {
  parts: ApiParts;
  note: (status: number) => void;
  refuse: (error: unknown) => void;
}

function connect(request: IncomingMessage, socket: Duplex, head: Buffer, { parts, note, refuse }: Passing): void {
  const { settings } = parts;
  const upstream = new URL(settings.browserBaseUrl);
  const send = upstream.protocol === 'https:' ? httpsRequest : httpRequest;
  const { host: _host, ...headers } = headersForBrowsers(settings, request.headers, null);
  const outgoing = send(new URL(request.url ?? '/', upstream), {
    method: 'GET',
    headers,
    timeout: CONNECT_TIMEOUT_MS,
    agent: false,
  });
  const fail = () => {
    outgoing.destroy();
    refuse(new HoldfastError('browser_error', 'The browser service does not answer; try again'));
  };
  outgoing.on('timeout', fail);
  outgoing.on('error', fail);
  socket.on('close', () => outgoing.destroy());
  outgoing.on('upgrade', (answer: IncomingMessage, far: Socket, farHead: Buffer) => {
    outgoing.removeListener('timeout', fail);
    note(101);
    far.setTimeout(0);
    far.setNoDelay(true);
    socket.write(headOf(answer));
    if (farHead.length > 0) socket.write(farHead);
    if (head.length > 0) far.write(head);
    join(socket, far);
  });
  outgoing.on('response', (answer: IncomingMessage) => {
    note(answer.statusCode ?? 502);
    // Not a websocket: the refusal goes back as it is, and the connection ends with it.
    socket.write(headOf(answer, ['connection: close']));
    answer.pipe(socket);
  });
  outgoing.end();
}

function join(near: Duplex, far: Duplex): void {
  near.pipe(far);
  far.pipe(near);
  near.on('close', () => far.destroy());
  far.on('close', () => near.destroy());
  far.on('error', () => far.destroy());
}

/** The status line and headers of an answer, as they go over the wire. */
function headOf(answer: IncomingMessage, added: string[] = []): string {
  const status = answer.statusCode ?? 502;
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (let index = 0; index + 1 < answer.rawHeaders.length; index += 2) {
    const name = answer.rawHeaders[index] ?? '';
    if (added.length > 0 && ['connection', 'transfer-encoding', 'keep-alive'].includes(name.toLowerCase())) continue;
    lines.push(`${name}: ${answer.rawHeaders[index + 1] ?? ''}`);
  }
  return `${[...lines, ...added].join('\r\n')}\r\n\r\n`;
}
