import replyFrom, { type FastifyReplyFromHooks } from '@fastify/reply-from';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { request as httpRequest } from 'undici';
import { BROWSER_POOL_ROUTES } from '../../contract/browser-pool-routes.ts';
import { BROWSER_ROUTES, NOTHING, NO_ANSWER, type BrowserRoute } from '../../contract/browser-routes.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { startStream } from '../../http/event-stream.ts';
import { NoContent, errorResponses } from '../response-schemas.ts';
import { hasBrowserToken, forwardedHeaders, isBrowserPath } from './forwarding.ts';
import { callerOf, programOf } from '../caller.ts';
import type { ApiServer, ApiSettings } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { serveRecordings } from './recordings.ts';
import { readableProjects } from '../scope.ts';

/** How long the browser service may take to start responding, in milliseconds; starting a browser takes longest. */
const RESPONSE_TIMEOUT_MS = 600_000;

/** Maximum body of a call that is buffered here, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;
/** The operation that may wait for minutes. */
const LONG_POLL: keyof typeof BROWSER_POOL_ROUTES = 'acquireBrowser';

/** Operations that return URLs which grant access to a browser or a video. */
const RETURN_ACCESS_URLS: ReadonlySet<string> = new Set<keyof typeof BROWSER_ROUTES | keyof typeof BROWSER_POOL_ROUTES>(
  ['createBrowser', 'listBrowsers', 'retrieveBrowser', 'updateBrowser', 'startReplay', 'listReplays', 'acquireBrowser'],
);

const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const SECURITY: Record<BrowserRoute['opens'], { security?: Record<string, string[]>[] }> = {
  key: {},
  session: { security: [{ bearer: [] }, { sessionToken: [] }] },
  link: { security: [{ sessionToken: [] }] },
};

declare module 'fastify' {
  interface FastifyRequest {
    /** The projects that a request to the browser service may see; null for a browser token. */
    browserProjects: readonly string[] | null;
  }
}

/**
 * Forwards /browsers and /browser_pools to the browser service, bodies and streams unchanged. A URL with a `jwt` needs no bearer
 * token: the browser service verifies it. Known operations have their own routes, for the OpenAPI document; those of a newer
 * browser service are forwarded as well.
 */
export async function proxyBrowserRoutes(app: ApiServer, parts: ApiParts): Promise<void> {
  const { settings } = parts;
  app.decorateRequest('browserProjects', null);
  // Bodies are neither parsed nor validated here.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));
  app.setValidatorCompiler(() => (value: unknown) => ({ value }));
  app.setSerializerCompiler(() => JSON.stringify);
  app.addHook('preHandler', async (request, reply) => {
    if (!isBrowserPath(request.url.split('?', 1)[0] ?? '')) {
      throw new HoldfastError('bad_request', 'The path leaves /browsers; remove its dot segments');
    }
    const projects = (request.browserProjects = await visibleProjects(request, parts));
    if (projects !== null && (await serveRecordings(request, reply, parts, projects))) return reply;
    return undefined;
  });
  await app.register(replyFrom, {
    base: settings.browserBaseUrl,
    undici: { bodyTimeout: 0, headersTimeout: RESPONSE_TIMEOUT_MS },
  });

  const hooks: FastifyReplyFromHooks = {
    // Retrying is up to the caller.
    retryDelay: () => null,
    rewriteRequestHeaders: (request, headers) =>
      forwardedHeaders(settings, headers, request.browserProjects, programOf(request)),
    onError: (reply, { error: cause }) => {
      const error = unreachable(cause);
      void reply.code(error.status).send(error.toBody());
    },
  };
  const forward = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.from(undefined, { ...hooks, onResponse: (_from, _to, { stream }) => sendStream(reply, stream) });
  for (const [operationId, route] of Object.entries<BrowserRoute>(BROWSER_ROUTES)) {
    app.route({
      method: route.method,
      url: route.url,
      config: { access: 'browser_token', returnsSecret: RETURN_ACCESS_URLS.has(operationId) },
      schema: describe('browsers', operationId, route),
      handler: forward,
    });
  }
  for (const [operationId, route] of Object.entries<BrowserRoute>(BROWSER_POOL_ROUTES)) {
    app.route({
      method: route.method,
      url: route.url,
      config: { returnsSecret: RETURN_ACCESS_URLS.has(operationId) },
      schema: describe('browser pools', operationId, route),
      handler: operationId === LONG_POLL ? (request, reply) => proxyUntilDisconnect(request, reply, settings) : forward,
    });
  }
  app.all('/browsers/*', { config: { access: 'browser_token' }, schema: { hide: true }, handler: forward });
}

/** The schema of an operation, for the OpenAPI document only: the browser service validates and responds. */
function describe(tag: string, operationId: string, route: BrowserRoute) {
  const { summary, params, query, body, content, produces, status, answer, emptyStatus, opens } = route;
  return {
    operationId,
    summary,
    tags: [tag],
    ...(params === NOTHING ? {} : { params }),
    ...(query === NOTHING ? {} : { querystring: query }),
    ...(body === NOTHING ? {} : { body }),
    ...(content === undefined ? {} : { body: content.schema, consumes: [content.type] }),
    ...(produces === undefined ? {} : { produces: [produces] }),
    ...SECURITY[opens],
    response: {
      [status]: answer === NO_ANSWER ? NoContent : answer,
      ...(emptyStatus === undefined ? {} : { [emptyStatus]: NoContent }),
      ...errorResponses(502, ...route.refusals),
    },
  };
}

/** Forwards a request and aborts it if the caller disconnects. */
async function proxyUntilDisconnect(request: FastifyRequest, reply: FastifyReply, settings: ApiSettings) {
  const disconnected = new AbortController();
  reply.raw.once('close', () => disconnected.abort());
  // Buffered, since a stream that fails to forward would destroy the caller's connection.
  const body = request.body instanceof Readable ? await readBody(request.body) : null;
  try {
    const response = await httpRequest(new URL(request.url, settings.browserBaseUrl), {
      method: 'POST',
      headers: endToEnd(forwardedHeaders(settings, request.headers, request.browserProjects, programOf(request))),
      body,
      headersTimeout: RESPONSE_TIMEOUT_MS,
      signal: disconnected.signal,
    });
    return await reply.code(response.statusCode).headers(endToEnd(response.headers)).send(response.body);
  } catch (cause) {
    throw unreachable(cause);
  }
}

async function readBody(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.from(String(chunk));
    length += bytes.length;
    if (length > MAX_BODY_BYTES) throw new HoldfastError('payload_too_large', 'The body is larger than 1 MiB');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Headers without the hop-by-hop ones. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

function unreachable(cause: unknown): HoldfastError {
  const { name } = cause instanceof Error ? cause : { name: 'unknown' };
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : name;
  return new HoldfastError('browser_error', 'The browser service does not respond; try again', {
    innerError: { code, message: 'The connection to the browser service failed' },
  });
}

/** Sends the headers of an event stream at once, since its first event may take a while. */
function sendStream(reply: FastifyReply, stream: Readable): void {
  if (!String(reply.getHeader('content-type')).startsWith('text/event-stream')) {
    void reply.send(stream);
    return;
  }
  // Either side closing closes the other.
  pipeline(stream, startStream(reply, reply.statusCode), () => undefined);
}

async function visibleProjects(request: FastifyRequest, { store }: ApiParts): Promise<readonly string[] | null> {
  if (request.caller === null && hasBrowserToken(request.query)) {
    // A bearer token beside a browser token is dropped silently; here the caller may intend it for the site.
    if (request.headers.authorization !== undefined && /\/curl\/raw$/.test(request.routeOptions.url ?? '')) {
      throw invalidField('authorization', 'is not forwarded; use `curl`, whose `headers` go to the site only');
    }
    return null;
  }
  return readableProjects(store, callerOf(request).scope);
}
