import type { FastifyInstance, FastifyReply } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { CONNECTION_HEADERS } from '../../contract/curl.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { checkUserUrl } from '../../egress/guard.ts';
import { abortOnClose } from '../../http/slow-clients.ts';
import type { RequestAnswer } from '../curl/request.ts';
import { request as requestBy } from '../curl/request.ts';
import type { BrowserDeps } from '../deps.ts';
import { createRouter } from '../http/router.ts';

/** Largest body of a request that is passed on as it is, in bytes. */
const MAX_RAW_BODY_BYTES = 10 * 1024 * 1024;
/** What a client says of itself, and cookies, which are the session's own. */
const CLIENT_HEADERS =
  /^(?:accept-encoding|authorization|cookie|forwarded|origin|referer|sec-.*|x-(?:forwarded|kernel|holdfast|stainless)-.*|x-real-ip)$/;
/** Names that programs give themselves; the browser has its own. */
const CLIENT_NAMES = /^(?:Kernel\/|node|undici)/;
/** What would speak for the address that passes an answer on, or no longer fits the body. */
const ADDRESS_HEADERS =
  /^(?:access-control-.*|alt-svc|clear-site-data|content-(?:encoding|security-policy.*)|nel|report.*|strict-transport-security|service-worker-allowed)$/;
const { curlRawGet, curlRawPost, curlRawPut, curlRawPatch, curlRawDelete } = BROWSER_ROUTES;

/** `/browsers/{id}/curl` and `curl/raw`: one HTTP request that the session's browser makes. */
export function curlRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  createRouter(app, deps).inSession(BROWSER_ROUTES.curl, async (session, { body, reply }) => {
    const { href: url } = checkUserUrl(body.url, { policy: deps.policy, field: 'url' });
    const { body: content, ...answer } = await requestBy(session, { ...body, url }, abortOnClose(reply));
    return { ...answer, body: content.toString(body.response_encoding) };
  });

  // Bodies are the site's, whatever their type.
  void app.register((raw, _, done) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_RAW_BODY_BYTES }, (_request, body, parsed) => {
      parsed(null, body);
    });
    const { inSession } = createRouter(raw, deps);
    for (const contract of [curlRawGet, curlRawPost, curlRawPut, curlRawPatch, curlRawDelete]) {
      inSession(contract, async (session, { query, body, request, reply }) => {
        refuseDocuments(request.headers);
        if (request.tokenProject !== null && request.headers.authorization !== undefined) {
          throw invalidField('authorization', 'is not passed on; use `curl`, whose `headers` are for the site alone');
        }
        const { href: url } = checkUserUrl(query.url, { policy: deps.policy, field: 'url' });
        const wanted = {
          url,
          method: request.method === 'HEAD' ? ('HEAD' as const) : contract.method,
          headers: passedOn(request.headers),
          timeout_ms: query.timeout_ms,
          body: Buffer.isBuffer(body) ? body : undefined,
        };
        const answer = await requestBy(session, wanted, abortOnClose(reply));
        return passBack(reply, answer, request.headers['sec-fetch-site'] !== undefined);
      });
    }
    done();
  });
}

/** A foreign page must not stand at our address: there its scripts would be ours. Programs do not say what they load. */
function refuseDocuments({ 'sec-fetch-dest': kind }: IncomingHttpHeaders): void {
  if (kind === undefined || kind === 'empty') return;
  throw new HoldfastError('forbidden', 'curl/raw answers programs; open the page in the session instead');
}

/** The headers that are for the site. */
function passedOn(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (CONNECTION_HEADERS.test(name) || CLIENT_HEADERS.test(name) || value === undefined || value === '*') continue;
    if (name === 'user-agent' && CLIENT_NAMES.test(String(value))) continue;
    kept[name] = String(value);
  }
  return kept;
}

/** `toBrowser`: whoever asked would keep cookies, as those of our address. */
function passBack(reply: FastifyReply, { status, headers, body }: RequestAnswer, toBrowser: boolean): FastifyReply {
  for (const [name, values] of Object.entries(headers)) {
    if (CONNECTION_HEADERS.test(name) || ADDRESS_HEADERS.test(name) || (toBrowser && name === 'set-cookie')) continue;
    reply.header(name, values);
  }
  return reply.header('content-security-policy', "sandbox; default-src 'none'").code(status).send(body);
}
