import cors from '@fastify/cors';
import type { ApiServer } from './context.ts';

/** How long a browser may remember what it was allowed, in seconds. */
const REMEMBERED_SECONDS = 600;
/** Headers of our answers that a page's script needs: paging, what is left of a rate limit, and when to come back. */
const EXPOSED_HEADERS = ['X-Has-More', 'X-Next-Offset', 'Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining'];

/**
 * Lets pages of the operator's own origins call the API from a browser, with a token of their own; cookies are never part
 * of it. Without origins no other page gets an answer, and never one from the hosted page's endpoints. Register before
 * authentication: a browser asks beforehand without a key.
 */
export async function answerOwnOrigins(app: ApiServer, origins: readonly string[]): Promise<void> {
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
