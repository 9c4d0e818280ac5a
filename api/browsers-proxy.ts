import replyFrom, { type FastifyReplyFromHooks } from '@fastify/reply-from';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { request as ask } from 'undici';
import { BROWSER_POOL_ROUTES } from '../contract/browser-pool-routes.ts';
import { BROWSER_ROUTES, NOTHING, NO_ANSWER, type BrowserRoute } from '../contract/browser-routes.ts';
import { HoldfastError, invalidField } from '../contract/errors.ts';
import { startStream } from '../http/event-stream.ts';
import { NoContent, refusals } from './answer-schemas.ts';
import { hasBrowserToken, headersForBrowsers, staysBelowBrowsers } from './browser-service.ts';
import { callerOf, programOf } from './caller.ts';
import type { ApiServer, ApiSettings } from './context.ts';
import type { ApiParts } from './parts.ts';
import { answerRecordings } from './recordings.ts';
import { readableProjects } from './scope.ts';

/** How long the browser service may take to begin an answer, in milliseconds: starting a browser is the slowest. */
const ANSWER_TIMEOUT_MS = 600_000;

/** Largest body of a call whose body is read here, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;
/** The operation whose answer may be minutes away. */
const WAITING: keyof typeof BROWSER_POOL_ROUTES = 'acquireBrowser';

/** Operations whose answers hold URLs that open a browser or a video to whoever has them. */
const OPENING: ReadonlySet<string> = new Set<keyof typeof BROWSER_ROUTES | keyof typeof BROWSER_POOL_ROUTES>([
  'createBrowser',
  'listBrowsers',
  'retrieveBrowser',
  'updateBrowser',
  'startReplay',
  'listReplays',
  'acquireBrowser',
]);

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
 * Passes /browsers and /browser_pools on to the browser service, bodies and streams unchanged. A URL that carries a `jwt` needs no bearer here:
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
      throw new HoldfastError('bad_request', 'The path has a part that leads out of it; correct it');
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
    rewriteRequestHeaders: (request, headers) =>
      headersForBrowsers(settings, headers, request.browserProjects, programOf(request)),
    onError: (reply, { error: cause }) => {
      const error = noAnswer(cause);
      void reply.code(error.status).send(error.toBody());
    },
  };
  const passOn = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.from(undefined, { ...hooks, onResponse: (_from, _to, { stream }) => send(reply, stream) });
  for (const [operationId, route] of Object.entries<BrowserRoute>(BROWSER_ROUTES)) {
    app.route({
      method: route.method,
      url: route.url,
      config: { access: 'browser_token', answersSecret: OPENING.has(operationId) },
      schema: describe('browsers', operationId, route),
      handler: passOn,
    });
  }
  for (const [operationId, route] of Object.entries<BrowserRoute>(BROWSER_POOL_ROUTES)) {
    app.route({
      method: route.method,
      url: route.url,
      config: { answersSecret: OPENING.has(operationId) },
      schema: describe('browser pools', operationId, route),
      handler: operationId === WAITING ? (request, reply) => passOnWhileThere(request, reply, settings) : passOn,
    });
  }
  app.all('/browsers/*', { config: { access: 'browser_token' }, schema: { hide: true }, handler: passOn });
}

/** The schema of an operation, for the document alone: it is the browser service that judges and answers. */
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
      ...refusals(502, ...route.refusals),
    },
  };
}

/** Passes a request on whose caller may go before it is answered: the browser service learns that at once. */
async function passOnWhileThere(request: FastifyRequest, reply: FastifyReply, settings: ApiSettings) {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  // Read here: a stream that cannot be passed on would take the caller's connection with it.
  const body = request.body instanceof Readable ? await readBody(request.body) : null;
  try {
    const answer = await ask(new URL(request.url, settings.browserBaseUrl), {
      method: 'POST',
      headers: endToEnd(headersForBrowsers(settings, request.headers, request.browserProjects, programOf(request))),
      body,
      headersTimeout: ANSWER_TIMEOUT_MS,
      signal: gone.signal,
    });
    return await reply.code(answer.statusCode).headers(endToEnd(answer.headers)).send(answer.body);
  } catch (cause) {
    throw noAnswer(cause);
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

/** Headers without those that are for one connection alone. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const ofConnection = [
    'connection',
    'expect',
    'host',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'content-length',
  ];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.includes(name)));
}

function noAnswer(cause: unknown): HoldfastError {
  const { name } = cause instanceof Error ? cause : { name: 'unknown' };
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : name;
  return new HoldfastError('browser_error', 'The browser service does not answer; try again', {
    innerError: { code, message: 'The connection to the browser service failed' },
  });
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
      throw invalidField('authorization', 'is not forwarded; use `curl`, whose `headers` go to the site only');
    }
    return null;
  }
  return readableProjects(store, callerOf(request).scope);
}
