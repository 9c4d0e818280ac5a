import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { BrowserDeps } from './deps.ts';
import { acceptEmptyJson } from '../http/bodies.ts';
import { answerError, answerErrors } from '../http/errors.ts';
import { sendAnswerHeaders } from '../http/headers.ts';
import { answerBrokenRequest } from '../http/sockets.ts';
import { createRouter } from './http/router.ts';
import { poolRoutes } from './routes/browser-pools.ts';
import { computerRoutes } from './routes/computer.ts';
import { curlRoutes } from './routes/curl.ts';
import { fileRoutes } from './routes/files.ts';
import { internalRoutes } from './routes/internal.ts';
import { liveViewRoute } from './routes/live-view.ts';
import { logRoutes } from './routes/logs.ts';
import { programRoutes } from './routes/programs.ts';
import { replayRoutes } from './routes/replays.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { telemetryRoutes } from './routes/telemetry.ts';
import { uploadRoutes } from './routes/uploads.ts';
import { serveWebsockets } from './routes/websockets.ts';
import { recordApiCalls } from './telemetry/api-calls.ts';

/** Largest JSON body, in bytes; text to type is the largest part of any. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Creates the HTTP application of the browser service. It holds no state of its own. */
export function createBrowserService(deps: BrowserDeps): FastifyInstance {
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    logger: false,
    genReqId: () => randomUUID(),
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 512 },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply, deps.logger),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  answerErrors(app, deps.logger);
  sendAnswerHeaders(app);
  acceptEmptyJson(app);

  app.decorateRequest('tokenProject', null);
  recordApiCalls(app, deps);

  app.get('/health', () => ({ status: 'ok', sessions: deps.registry.count(), max_sessions: deps.registry.max }));
  const router = createRouter(app, deps);
  sessionRoutes(router, deps);
  poolRoutes(router, deps);
  liveViewRoute(router, deps);
  computerRoutes(router);
  programRoutes(router, deps);
  fileRoutes(router, deps);
  uploadRoutes(app, deps);
  curlRoutes(app, deps);
  logRoutes(router, deps);
  replayRoutes(router, deps);
  telemetryRoutes(router, deps);
  internalRoutes(app, deps);
  serveWebsockets(app.server, deps);
  return app;
}
