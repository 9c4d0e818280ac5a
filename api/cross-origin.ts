import cors from '@fastify/cors';
import type { FastifyRequest } from 'fastify';
import { HoldfastError } from '../contract/errors.ts';
import type { ApiServer } from './context.ts';

/** A header that our own pages send: another site's page would need a CORS preflight for it, which is never granted. */
export const PAGE_HEADER = 'x-holdfast-page';

/**
 * Rejects requests that another site's page may have sent with our cookie. Browsers send `Sec-Fetch-Site` (https and localhost)
 * and `Origin` (every POST); our own header covers a GET that has neither. Throws `forbidden`.
 */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string): void {
  if (isCrossOrigin(request, publicUrl) || request.headers[PAGE_HEADER] !== '1')
    throw new HoldfastError('forbidden', 'This route is for our own pages only; use the API with an API key');
}

/**
 * Whether a request may use the console's cookie: one sent by its page's script, or a read that the browser marks as
 * same-origin, since event streams and images cannot carry a custom header.
 */
export function isFromConsole(request: FastifyRequest, publicUrl: string): boolean {
  if (isCrossOrigin(request, publicUrl)) return false;
  if (request.headers[PAGE_HEADER] === '1') return true;
  return ['GET', 'HEAD'].includes(request.method) && request.headers['sec-fetch-site'] === 'same-origin';
}

function isCrossOrigin(request: FastifyRequest, publicUrl: string): boolean {
  const site = request.headers['sec-fetch-site'];
  const { origin } = request.headers;
  if (site !== undefined && site !== 'same-origin') return true;
  return origin !== undefined ? !isOwnOrigin(origin, request, publicUrl) : !['GET', 'HEAD'].includes(request.method);
}

/** Rejects a body that is not JSON: other types can be sent cross-site without a preflight. */
export function requireJson(request: FastifyRequest): void {
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new HoldfastError('unsupported_media_type', 'Send the body as `Content-Type: application/json`');
}

function isOwnOrigin(origin: string, request: FastifyRequest, publicUrl: string): boolean {
  if (origin === new URL(publicUrl).origin) return true;
  // Reached by a name other than publicUrl's (a tunnel, 127.0.0.1 for localhost), the page and its calls share a Host.
  return URL.canParse(origin) && new URL(origin).host === request.headers.host;
}

/** How long a browser may cache a preflight response, in seconds. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;
/** Response headers that scripts may read: paging and rate limits. */
const EXPOSED_HEADERS = ['X-Has-More', 'X-Next-Offset', 'Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining'];

/**
 * Lets pages of the operator's own origins call the API from a browser with a bearer token, never with cookies, and never the
 * hosted page's endpoints. Register before authentication, since preflight requests carry no key.
 */
export async function allowOrigins(app: ApiServer, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  await app.register(cors, {
    delegator: (request, callback) => {
      callback(null, {
        origin: request.url.startsWith('/login/') ? false : [...origins],
        methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
        exposedHeaders: EXPOSED_HEADERS,
        maxAge: PREFLIGHT_MAX_AGE_SECONDS,
        credentials: false,
      });
    },
  });
}
