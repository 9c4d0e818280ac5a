import type { FastifyInstance, FastifyReply } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { CONNECTION_HEADERS } from '../../contract/curl.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { checkUserUrl } from '../../egress/guard.ts';
import { abortOnClose } from '../../http/slow-clients.ts';
import type { CurlResponse } from '../curl/request.ts';
import { sendRequest } from '../curl/request.ts';
import type { BrowserDeps } from '../deps.ts';
import { createRouter } from '../http/router.ts';

/** Largest body of a forwarded request, in bytes. */
const MAX_RAW_BODY_BYTES = 10 * 1024 * 1024;
/** Headers about the client, and cookies, which come from the session. Not forwarded. */
const CLIENT_HEADERS =
  /^(?:accept-encoding|authorization|cookie|forwarded|origin|referer|sec-.*|x-(?:forwarded|kernel|holdfast|stainless)-.*|x-real-ip)$/;
/** User agents of HTTP clients, replaced by the browser's. */
const CLIENT_NAMES = /^(?:Kernel\/|node|undici)/;
/** Response headers that would apply to our own origin, or no longer match the body. */
const ADDRESS_HEADERS =
  /^(?:access-control-.*|alt-svc|clear-site-data|content-(?:encoding|security-policy.*)|nel|report.*|strict-transport-security|service-worker-allowed)$/;
const { curlRawGet, curlRawPost, curlRawPut, curlRawPatch, curlRawDelete } = BROWSER_ROUTES;

/** `/browsers/{id}/curl` and `curl/raw`: HTTP requests made by the session's browser. */
export function curlRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  createRouter(app, deps).inSession(BROWSER_ROUTES.curl, async (session, { body, reply }) => {
    const { href: url } = checkUserUrl(body.url, { policy: deps.policy, field: 'url' });
    const { body: content, ...answer } = await sendRequest(session, { ...body, url }, abortOnClose(reply));
    return { ...answer, body: content.toString(body.response_encoding) };
  });

  // Bodies are forwarded, whatever their type.
  void app.register((raw, _, done) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_RAW_BODY_BYTES }, (_request, body, parsed) => {
      parsed(null, body);
    });
    const { inSession } = createRouter(raw, deps);
    for (const contract of [curlRawGet, curlRawPost, curlRawPut, curlRawPatch, curlRawDelete]) {
      inSession(contract, async (session, { query, body, request, reply }) => {
        rejectDocuments(request.headers);
        if (request.tokenProject !== null && request.headers.authorization !== undefined) {
          throw invalidField('authorization', 'is not forwarded; use `curl`, whose `headers` go to the site only');
        }
        const { href: url } = checkUserUrl(query.url, { policy: deps.policy, field: 'url' });
        const wanted = {
          url,
          method: request.method === 'HEAD' ? ('HEAD' as const) : contract.method,
          headers: forwardedHeaders(request.headers),
          timeout_ms: query.timeout_ms,
          body: Buffer.isBuffer(body) ? body : undefined,
        };
        const answer = await sendRequest(session, wanted, abortOnClose(reply));
        return sendResponse(reply, answer, request.headers['sec-fetch-site'] !== undefined);
      });
    }
    done();
  });
}

/** A foreign page must not load from our origin, where its scripts would run as ours. Only browsers send `Sec-Fetch-Dest`. */
function rejectDocuments({ 'sec-fetch-dest': kind }: IncomingHttpHeaders): void {
  if (kind === undefined || kind === 'empty') return;
  throw new HoldfastError('forbidden', 'curl/raw cannot be opened as a page; open the site in the session instead');
}

/** The headers to forward to the site. */
function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (CONNECTION_HEADERS.test(name) || CLIENT_HEADERS.test(name) || value === undefined || value === '*') continue;
    if (name === 'user-agent' && CLIENT_NAMES.test(String(value))) continue;
    kept[name] = String(value);
  }
  return kept;
}

/** `toBrowser`: the client is a browser, which would store cookies for our origin. */
function sendResponse(reply: FastifyReply, { status, headers, body }: CurlResponse, toBrowser: boolean): FastifyReply {
  for (const [name, values] of Object.entries(headers)) {
    if (CONNECTION_HEADERS.test(name) || ADDRESS_HEADERS.test(name) || (toBrowser && name === 'set-cookie')) continue;
    reply.header(name, values);
  }
  return reply.header('content-security-policy', "sandbox; default-src 'none'").code(status).send(body);
}
