import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { BrowserDeps } from './deps.ts';
import { createBearerCheck } from './http/authentication.ts';
import { acceptEmptyJson } from '../http/bodies.ts';
import { answerError, answerErrors } from '../http/errors.ts';
import { sendAnswerHeaders } from '../http/headers.ts';
import { answerBrokenRequest } from '../http/sockets.ts';
import { serveWebsockets } from './routes/cdp.ts';
import { computerRoutes } from './routes/computer.ts';
import { createBrowserRoute } from './routes/create-browser.ts';
import { curlRoute } from './routes/curl.ts';
import { deleteBrowserRoute } from './routes/delete-browser.ts';
import { extensionsRoute } from './routes/extensions.ts';
import { liveViewRoute } from './routes/live-view.ts';
import { listBrowsersRoute } from './routes/list-browsers.ts';
import { fileUploadRoutes } from './routes/files-upload.ts';
import { fileWatchRoutes } from './routes/files-watch.ts';
import { fileWriteRoutes } from './routes/files-write.ts';
import { fileReadRoutes } from './routes/files-read.ts';
import { logsStreamRoute } from './routes/logs-stream.ts';
import { playwrightRoute } from './routes/playwright.ts';
import { processOutputRoute } from './routes/process-output.ts';
import { processRoutes } from './routes/process.ts';
import { profileRoutes } from './routes/profiles.ts';
import { replayRoutes, replayViewRoute } from './routes/replays.ts';
import { retrieveBrowserRoute } from './routes/retrieve-browser.ts';
import { telemetryEventsRoute } from './routes/telemetry-events.ts';
import { telemetryStreamRoute } from './routes/telemetry-stream.ts';
import { updateBrowserRoute } from './routes/update-browser.ts';
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

  app.get('/health', () => ({ status: 'ok', sessions: deps.registry.count() }));
  liveViewRoute(app, deps);
  replayViewRoute(app, deps);
  const checkBearer = createBearerCheck(deps.apiKey);
  telemetryStreamRoute(app, deps, checkBearer);
  void app.register((guarded, _, done) => {
    // Before anything of the request is parsed.
    guarded.addHook('onRequest', (request, _reply, next) => {
      checkBearer(request);
      next();
    });
    recordApiCalls(guarded, deps);
    if (deps.profileRecords !== null) profileRoutes(guarded, deps.profileRecords);
    createBrowserRoute(guarded, deps);
    listBrowsersRoute(guarded, deps);
    retrieveBrowserRoute(guarded, deps);
    updateBrowserRoute(guarded, deps);
    deleteBrowserRoute(guarded, deps);
    computerRoutes(guarded, deps);
    replayRoutes(guarded, deps);
    telemetryEventsRoute(guarded, deps);
    processRoutes(guarded, deps);
    processOutputRoute(guarded, deps);
    playwrightRoute(guarded, deps);
    curlRoute(guarded, deps);
    fileReadRoutes(guarded, deps);
    fileWriteRoutes(guarded, deps);
    fileUploadRoutes(guarded, deps);
    fileWatchRoutes(guarded, deps);
    logsStreamRoute(guarded, deps);
    extensionsRoute(guarded, deps);
    done();
  });
  serveWebsockets(app.server, deps);
  return app;
}
