import httpProxy from '@fastify/http-proxy';
import type { FastifyRequest } from 'fastify';
import { HoldfastError } from '../contract/errors.ts';
import { hasBrowserToken, headersForBrowsers, staysBelowBrowsers } from './browser-service.ts';
import type { ApiServer } from './context.ts';
import type { ApiParts } from './parts.ts';
import { answerRecordings } from './recordings.ts';
import { writeScope } from './scope.ts';

/** How long the browser service may take to begin an answer, in milliseconds: starting a browser is the slowest. */
const ANSWER_TIMEOUT_MS = 600_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** The project that a request to the browser service acts in; null when a token in its URL speaks for it. */
    browserProject: string | null;
  }
}

/**
 * Passes /browsers on to the browser service, bodies and streams unchanged. A URL that carries a `jwt` needs no bearer here:
 * the browser service checks that token.
 */
export async function passOnBrowsers(app: ApiServer, parts: ApiParts): Promise<void> {
  const { settings, store } = parts;
  app.decorateRequest('browserProject', null);
  // Bodies are not read here; without this the parsers of the API would be in the way.
  app.removeAllContentTypeParsers();
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'browser_token' };
    route.schema = { ...route.schema, hide: true };
  });
  app.addHook('preHandler', async (request, reply) => {
    if (!staysBelowBrowsers(request.url.split('?', 1)[0] ?? '')) {
      throw new HoldfastError('bad_request', 'the path has a part that leads out of /browsers');
    }
    const projectId = (request.browserProject = await projectOf(request, store));
    if (projectId !== null && (await answerRecordings(request, reply, parts, projectId))) return reply;
    return undefined;
  });

  await app.register(httpProxy, {
    upstream: settings.browserBaseUrl,
    prefix: '/browsers',
    rewritePrefix: '/browsers',
    undici: { bodyTimeout: 0, headersTimeout: ANSWER_TIMEOUT_MS },
    replyOptions: {
      // Whether to ask again is the caller's to decide.
      retryDelay: () => null,
      rewriteRequestHeaders: (request, headers) => headersForBrowsers(settings, headers, request.browserProject),
      onError: (reply) => {
        const error = new HoldfastError('browser_error', 'the browser service does not answer; try again');
        void reply.code(error.status).send(error.toBody());
      },
    },
  });
}

async function projectOf(request: FastifyRequest, store: ApiParts['store']): Promise<string | null> {
  if (request.caller === null && hasBrowserToken(request.query)) return null;
  if (request.caller === null) throw new HoldfastError('unauthorized', 'send `Authorization: Bearer <API key>`');
  return (await writeScope(store, request.caller.scope)).projectId;
}
