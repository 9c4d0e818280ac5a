import replyFrom, { type FastifyReplyFromHooks } from '@fastify/reply-from';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pipeline, type Readable } from 'node:stream';
import { BROWSER_ROUTES, NOTHING, NO_ANSWER, type BrowserRoute } from '../contract/browser-routes.ts';
import { HoldfastError, invalidField } from '../contract/errors.ts';
import { startStream } from '../http/event-stream.ts';
import { NoContent, refusals } from './answer-schemas.ts';
import { hasBrowserToken, headersForBrowsers, staysBelowBrowsers } from './browser-service.ts';
import { callerOf } from './caller.ts';
import type { ApiServer } from './context.ts';
import type { ApiParts } from './parts.ts';
import { answerRecordings } from './recordings.ts';
import { readableProjects } from './scope.ts';

/** How long the browser service may take to begin an answer, in milliseconds: starting a browser is the slowest. */
const ANSWER_TIMEOUT_MS = 600_000;

const SECURITY: Record<BrowserRoute['opens'], { security?: Record<string, string[]>[] }> = {
  key: {},
  session: { security: [{ bearer: [] }, { sessionToken: [] }] },
  link: { security: [{ sessionToken: [] }] },
};

declare module 'fastify' {
  interface FastifyRequest {
    /** The projects that a request to the browser service may see; null when a token in its URL speaks for it. */
    browserProjects: readonly string[] | null;
  }
}

/**
 * Passes /browsers on to the browser service, bodies and streams unchanged. A URL that carries a `jwt` needs no bearer here:
 * the browser service checks that token. The known operations are routes of their own, so that the document has them; what
 * a newer browser service knows beside is passed on as well.
 */
export async function passOnBrowsers(app: ApiServer, parts: ApiParts): Promise<void> {
  const { settings } = parts;
  app.decorateRequest('browserProjects', null);
  // Bodies are neither read nor judged here.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));
  app.setValidatorCompiler(() => (value: unknown) => ({ value }));
  app.setSerializerCompiler(() => JSON.stringify);
  app.addHook('preHandler', async (request, reply) => {
    if (!staysBelowBrowsers(request.url.split('?', 1)[0] ?? '')) {
      throw new HoldfastError('bad_request', 'The path has a part that leads out of /browsers; correct it');
    }
    const projects = (request.browserProjects = await projectsOf(request, parts));
    if (projects !== null && (await answerRecordings(request, reply, parts, projects))) return reply;
    return undefined;
  });
  await app.register(replyFrom, {
    base: settings.browserBaseUrl,
    undici: { bodyTimeout: 0, headersTimeout: ANSWER_TIMEOUT_MS },
  });

  const hooks: FastifyReplyFromHooks = {
    // Whether to ask again is the caller's to decide.
    retryDelay: () => null,
    rewriteRequestHeaders: (request, headers) => headersForBrowsers(settings, headers, request.browserProjects),
    onError: (reply, { error: cause }) => {
      const code = 'code' in cause ? String(cause.code) : cause.name;
      const error = new HoldfastError('browser_error', 'The browser service does not answer; try again', {
        innerError: { code, message: 'The connection to the browser service failed' },
      });
      void reply.code(error.status).send(error.toBody());
    },
  };
  const passOn = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.from(undefined, { ...hooks, onResponse: (_from, _to, { stream }) => send(reply, stream) });
  for (const [operationId, route] of Object.entries<BrowserRoute>(BROWSER_ROUTES)) {
    app.route({
      method: route.method,
      url: route.url,
      config: { access: 'browser_token' },
      schema: describe(operationId, route),
      handler: passOn,
    });
  }
  app.all('/browsers/*', { config: { access: 'browser_token' }, schema: { hide: true }, handler: passOn });
}

/** The schema of an operation, for the document alone: it is the browser service that judges and answers. */
function describe(operationId: string, route: BrowserRoute) {
  const { summary, params, query, body, content, produces, status, answer, opens } = route;
  return {
    operationId,
    summary,
    tags: ['browsers'],
    ...(params === NOTHING ? {} : { params }),
    ...(query === NOTHING ? {} : { querystring: query }),
    ...(body === NOTHING ? {} : { body }),
    ...(content === undefined ? {} : { body: content.schema, consumes: [content.type] }),
    ...(produces === undefined ? {} : { produces: [produces] }),
    ...SECURITY[opens],
    response: {
      [status]: answer === NO_ANSWER ? NoContent : answer,
      ...refusals(401, 502, ...route.refusals),
    },
  };
}

/** An event stream's headers go on at once: its reader waits for them, and its first event may be long in coming. */
function send(reply: FastifyReply, stream: Readable): void {
  if (!String(reply.getHeader('content-type')).startsWith('text/event-stream')) {
    void reply.send(stream);
    return;
  }
  // Either side's end is the other's; which of them it was is nobody's to know.
  pipeline(stream, startStream(reply, reply.statusCode), () => undefined);
}

async function projectsOf(request: FastifyRequest, { store }: ApiParts): Promise<readonly string[] | null> {
  if (request.caller === null && hasBrowserToken(request.query)) {
    // It would be dropped without a word, as every bearer beside a token; here a caller may mean it for the site.
    if (request.headers.authorization !== undefined && /\/curl\/raw$/.test(request.routeOptions.url ?? '')) {
      throw invalidField('authorization', 'is not passed on; use `curl`, whose `headers` are for the site alone');
    }
    return null;
  }
  return readableProjects(store, callerOf(request).scope);
}
