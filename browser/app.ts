import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { BrowserDeps } from './deps.ts';
import { acceptEmptyJson } from '../http/bodies.ts';
import { answerError, answerErrors } from '../http/errors.ts';
import { sendAnswerHeaders } from '../http/headers.ts';
import { answerBrokenRequest } from '../http/sockets.ts';
import { createAuthorizer } from './http/authentication.ts';
import { createRouter } from './http/router.ts';
import { poolRoutes } from './routes/browser-pools.ts';
import { appProgramRoutes } from './routes/app-programs.ts';
import { captchaSolveRoutes } from './routes/captcha-solves.ts';
import { computerRoutes } from './routes/computer.ts';
import { curlRoutes } from './routes/curl.ts';
import { fileRoutes } from './routes/files.ts';
import { liveViewRoute } from './routes/live-view.ts';
import { logRoutes } from './routes/logs.ts';
import { profileRoutes } from './routes/profiles.ts';
import { programRoutes } from './routes/programs.ts';
import { replayRoutes } from './routes/replays.ts';
import { sessionUsageRoute } from './routes/session-usage.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { telemetryRoutes } from './routes/telemetry.ts';
import { uploadRoutes } from './routes/uploads.ts';
import { serveWebsockets } from './routes/websockets.ts';
import { recordApiCalls } from './telemetry/api-calls.ts';

/** Largest body of a call, in bytes: text to type is the largest part of any. */
const MAX_BODY_BYTES = 1024 * 1024;

/** The HTTP application of the browser service. It holds no state of its own. */
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
  appProgramRoutes(app, deps);
  curlRoutes(app, deps);
  logRoutes(router, deps);
  replayRoutes(router, deps);
  telemetryRoutes(router, deps);
  captchaSolveRoutes(app, deps);
  sessionUsageRoute(app, deps);
  const { profileRecords } = deps;
  if (profileRecords !== null) {
    const admit = createAuthorizer(deps);
    void app.register((guarded, _, done) => {
      guarded.addHook('onRequest', (request) => admit('key', request));
      profileRoutes(guarded, profileRecords);
      done();
    });
  }
  serveWebsockets(app.server, deps);
  return app;
}
