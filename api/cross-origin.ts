import cors from '@fastify/cors';
import type { FastifyRequest } from 'fastify';
import { HoldfastError } from '../contract/errors.ts';
import type { ApiServer } from './context.ts';

/** A header of our own: another site's page cannot add it without asking first, and is never allowed to. */
export const PAGE_HEADER = 'x-holdfast-page';

/**
 * Refuses what another site's page may have sent with our cookie. Browsers say it in `Sec-Fetch-Site` (https and
 * localhost) and in `Origin` (every POST); our own header covers a GET where neither is sent.
 * @throws HoldfastError `forbidden`
 */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string): void {
  if (isForeign(request, publicUrl) || request.headers[PAGE_HEADER] !== '1') refuse();
}

/**
 * Whether a request may use the cookie of the console: one that its page's script has sent, or a read that the browser itself
 * says comes from our own page, for an event stream or a picture can have no header of ours.
 */
export function isFromConsole(request: FastifyRequest, publicUrl: string): boolean {
  if (isForeign(request, publicUrl)) return false;
  if (request.headers[PAGE_HEADER] === '1') return true;
  return ['GET', 'HEAD'].includes(request.method) && request.headers['sec-fetch-site'] === 'same-origin';
}

function isForeign(request: FastifyRequest, publicUrl: string): boolean {
  const site = request.headers['sec-fetch-site'];
  const { origin } = request.headers;
  if (site !== undefined && site !== 'same-origin') return true;
  return origin !== undefined ? !isOurs(origin, request, publicUrl) : !['GET', 'HEAD'].includes(request.method);
}

/** Refuses a body that is not JSON: other types can be sent across sites without a preflight. */
export function requireJson(request: FastifyRequest): void {
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new HoldfastError('unsupported_media_type', 'Send the body as `Content-Type: application/json`');
}

function isOurs(origin: string, request: FastifyRequest, publicUrl: string): boolean {
  if (origin === new URL(publicUrl).origin) return true;
  // Behind another name than publicUrl's (a tunnel, 127.0.0.1 for localhost) the page and its calls share a Host.
  return URL.canParse(origin) && new URL(origin).host === request.headers.host;
}

function refuse(): never {
  throw new HoldfastError('forbidden', 'This address answers our own pages alone; use the API with an API key');
}

/** How long a browser may remember what it was allowed, in seconds. */
const REMEMBERED_SECONDS = 600;
/** Headers of our answers that a page's script needs: paging, what is left of a rate limit, and when to come back. */
const EXPOSED_HEADERS = ['X-Has-More', 'X-Next-Offset', 'Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining'];

/**
 * Lets pages of the operator's own origins call the API from a browser, with a token of their own; cookies are never part
 * of it. Without origins no other page gets an answer, and never one from the hosted page's endpoints. Register before
 * authentication: a browser asks beforehand without a key.
 */
export async function allowOrigins(app: ApiServer, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  await app.register(cors, {
    delegator: (request, callback) => {
      callback(null, {
        origin: request.url.startsWith('/login/') ? false : [...origins],
        methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
        exposedHeaders: EXPOSED_HEADERS,
        maxAge: REMEMBERED_SECONDS,
        credentials: false,
      });
    },
  });
}
