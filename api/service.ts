import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { HoldfastError } from '../contract/errors.ts';
import { acceptEmptyJson } from '../http/bodies.ts';
import { answerError, answerErrors } from '../http/errors.ts';
import { sendAnswerHeaders } from '../http/headers.ts';
import { answerBrokenRequest } from '../http/sockets.ts';
import { auditRequests, toAuditedCall } from './audit-log/request-audit.ts';
import { createAuditTrail, type AuditTrail } from './audit-log/audit-trail.ts';
import { isPrincipal, principalIdOf, type Caller } from './caller.ts';
import { createAuthentication } from './authentication.ts';
import { hasBrowserToken } from './browsers/forwarding.ts';
import { createClientAddress } from './rate-limit.ts';
import { proxyBrowserRoutes } from './browsers/proxy.ts';
import { tunnelBrowserWebSockets } from './browsers/tunnel.ts';
import { consolePages } from './console/plugin.ts';
import type { ApiDeps, ApiServer } from './context.ts';
import { showDocument } from './document/openapi.ts';
import { allowOrigins } from './cross-origin.ts';
import { createHostedPageDeps } from './auth-connections/hosted-page-deps.ts';
import { hostedPage } from './hosted/plugin.ts';
import { createAccessTokens } from './oauth/access-tokens.ts';
import { oauthServer } from './oauth/routes.ts';
import { describeRoutes } from './document/openapi.ts';
import { createApiParts, type ApiParts } from './parts.ts';
import { countCall } from './rate-limit.ts';
import { requireRole } from './people/roles.ts';
import { registerRoutes } from './routes.ts';
import { rejectMalformedText } from './malformed-text.ts';

/** Maximum body of a request to the API itself, in bytes. Requests forwarded to the browser service are not buffered. */
const BODY_LIMIT = 1024 * 1024;
/** How long a client may take to send its headers, and its whole request, in milliseconds. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 300_000;
/** How long running requests may take to finish during shutdown, in milliseconds. */
const SHUTDOWN_GRACE_MS = 3000;
/** Maximum path parameter: names of 255 characters, percent-encoded in up to 12 bytes each. */
const MAX_PARAM_LENGTH = 4096;

/**
 * Creates the HTTP service without listening, for {@link startApi} and for tests by injection. A request passes the rate limit
 * by address, authentication and the rate limit by credential before it is parsed.
 */
export async function createApi(deps: ApiDeps): Promise<ApiServer> {
  const parts = createApiParts(deps);
  const trail = createAuditTrail(parts);
  const addressOf = createClientAddress(deps.settings);
  const app: ApiServer = Fastify({
    logger: false,
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    trustProxy: deps.settings.trustProxy ?? false,
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    clientErrorHandler: (fault, socket) => {
      const call = { at: deps.clock(), ip: socket.remoteAddress ?? '', method: '', url: '', route: '', headers: {} };
      if (fault.code !== 'ECONNRESET') trail.recordAnonymous({ ...call, status: 400, durationMs: 0 });
      answerBrokenRequest(fault, socket);
    },
    // Runs before any hook: the request has no route.
    frameworkErrors: (error, request, reply) => {
      const received = { at: deps.clock(), ip: addressOf(request.raw) };
      answerError(error, request, reply, deps.logger);
      trail.recordAnonymous(toAuditedCall(request, received, reply.statusCode, 0));
    },
  }).withTypeProvider<ZodTypeProvider>();

  app.server.headersTimeout = HEADERS_TIMEOUT_MS;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  answerErrors(app, deps.logger);
  sendAnswerHeaders(app);
  acceptEmptyJson(app);
  await allowOrigins(app, deps.settings.allowedOrigins ?? []);
  guardRequests(app, parts, trail);
  await describeRoutes(app, deps.settings.publicUrl);
  await showDocument(app);
  await app.register(async (scope) => {
    // The routes of pages are internal to them and authenticate with cookies.
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'public' };
      route.schema = { ...route.schema, hide: true };
    });
    await hostedPage(scope, createHostedPageDeps(parts));
    consolePages(scope, { sandbox: null, temporalUiUrl: null, ...deps.settings.console });
  });
  await app.register((scope, _options, done) => {
    registerRoutes(scope.withTypeProvider<ZodTypeProvider>(), parts);
    done();
  });
  await app.register(async (scope) => oauthServer(scope.withTypeProvider<ZodTypeProvider>(), parts));
  await app.register(async (scope) => proxyBrowserRoutes(scope.withTypeProvider<ZodTypeProvider>(), parts));
  tunnelBrowserWebSockets(app, parts, trail);
  return app;
}

/** Where {@link startApi} listens. Port 0 picks a free port. */
export interface ListenOptions {
  port: number;
  host?: string;
}

/** The running service. `close` ends open streams first; their clients reconnect elsewhere. */
export interface RunningApi {
  url: string;
  app: ApiServer;
  close(): Promise<void>;
}

/** Starts the service. Rejects if it cannot listen (`EADDRINUSE` if the port is taken). */
export async function startApi(options: ApiDeps & ListenOptions): Promise<RunningApi> {
  const app = await createApi(options);
  await app.listen({ port: options.port, host: options.host ?? '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, app, close: () => app.close() };
}

function guardRequests(app: ApiServer, parts: ApiParts, trail: AuditTrail): void {
  const authenticate = createAuthentication(
    parts,
    parts.hostedTokens,
    parts.codeTokens,
    createAccessTokens(parts, parts.signingKeys),
  );
  const { byAddress, byCredential } = parts.limits;

  app.decorateRequest('caller', null);
  app.decorateRequest('auditPrincipal', null);
  app.decorateRequest('auditConnection', null);
  auditRequests(app, trail, parts);
  app.addHook('onRequest', async (request, reply) => {
    await countCall(byAddress, request.ip, reply);
    const access = request.routeOptions.config.access ?? 'api_key';
    if (access === 'public' || (access === 'browser_token' && hasBrowserToken(request.query))) return;
    const caller = (request.caller = await authenticate(request));
    await countCall(byCredential, rateLimitKey(caller), reply);
    if (caller.kind === 'user') {
      requireRole(caller, request, parts.clock());
      return;
    }
    if (caller.kind !== 'api_key' && access !== caller.kind) {
      const token = caller.kind === 'hosted' ? 'hosted page token' : 'code token';
      throw new HoldfastError('forbidden', `A ${token} does not grant this; use an API key`);
    }
  });
  app.addHook('preValidation', (request, _reply, done) => {
    rejectMalformedText('path', request.params);
    rejectMalformedText('query', request.query);
    if (!isStream(request.body)) rejectMalformedText('body', request.body);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { caller } = request;
    parts.logger.info(
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? '',
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime),
        ...(caller?.kind === 'api_key' ? { credential_id: caller.key.id } : {}),
        ...(caller === null || isPrincipal(caller) ? {} : { connection_id: caller.connectionId }),
      },
      'request',
    );
    done();
  });
  app.addHook('onClose', () => parts.browserService.close());
  // Streams stay open while a flow waits, and the server would wait for them.
  app.addHook('preClose', (done) => {
    parts.streams.closeAll();
    setTimeout(() => app.server.closeAllConnections(), SHUTDOWN_GRACE_MS).unref();
    done();
  });
}

/** The key that a caller's requests are counted under. */
function rateLimitKey(caller: Caller): string {
  switch (caller.kind) {
    case 'api_key':
    case 'user':
      return principalIdOf(caller);
    case 'hosted':
      return caller.flowId;
    case 'codes':
      return caller.connectionId;
  }
}

function isStream(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'pipe' in body && typeof body.pipe === 'function';
}
