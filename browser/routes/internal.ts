import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { CaptchaSolve } from '../../contract/captcha-solves.ts';
import { ProgramId, ProgramRun, type ProgramEvent } from '../../contract/programs.ts';
import { abandonableBody } from '../../http/bodies.ts';
import { readInput } from '../../http/errors.ts';
import { eventFrame, openEventStream } from '../../http/event-stream.ts';
import { abortOnClose } from '../../http/slow-clients.ts';
import type { BrowserDeps } from '../deps.ts';
import { createAuthorizer } from '../http/authentication.ts';
import { projectOf, projectsOf, websocketBaseOf } from '../http/caller.ts';
import type { Session } from '../session/session.ts';
import { browserView } from '../session/view.ts';
import { createCaptchaSolves, type CaptchaSolves } from '../telemetry/captcha-solves.ts';
import { profileRoutes } from './profiles.ts';

const Program = z.object({ id: ProgramId });
const Params = z.object({ id: z.string().min(1).max(255) });

/**
 * Routes for workers and the API only, which authenticate by the service's key: programs of users, captcha solves, usage, and
 * profiles where the service stores them itself. They are not below /browsers, which callers can reach through the API.
 */
export function internalRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  const authorize = createAuthorizer(deps);
  void app.register((guarded, _, done) => {
    guarded.addHook('onRequest', (request) => authorize('key', request));
    // A scope of its own: only these routes take binary bodies.
    void guarded.register((programs, _options, registered) => {
      programRunRoutes(programs, deps);
      registered();
    });
    invocationRoutes(guarded, deps);
    captchaSolveRoute(guarded, deps);
    guarded.get('/session_usage', (request) => deps.registry.usage(projectsOf(request)));
    if (deps.profileRecords !== null) profileRoutes(guarded, deps.profileRecords);
    done();
  });
}

/** `PUT /programs/{id}` and `POST /programs/{id}/runs`. A run is answered by a stream of events, and ends with its reader. */
function programRunRoutes(app: FastifyInstance, { programs, logger }: BrowserDeps): void {
  app.addContentTypeParser('application/octet-stream', (_request, body, parsed) => {
    parsed(null, body);
  });
  app.put('/programs/:id', async (request, reply) => {
    const { id } = readInput(Program, request.params);
    const content = request.body instanceof Readable ? abandonableBody(request.body) : Readable.from([]);
    await programs.receive(id, content);
    return reply.code(204).send();
  });
  app.post('/programs/:id/runs', async (request, reply) => {
    const { id } = readInput(Program, request.params);
    const run = readInput(ProgramRun, request.body);
    // Rejections are ordinary error responses; the stream only opens once the run can start.
    const start = await programs.prepare(id, run);
    const writer = openEventStream(reply);
    const send = (event: ProgramEvent): Promise<void> => writer.send(eventFrame(event.event, event));
    const log = (message: string): void => {
      void send({ event: 'log', timestamp: new Date().toISOString(), message });
    };
    try {
      await send({ event: 'end', end: await start(log, abortOnClose(reply)) });
    } catch {
      // The reader treats a stream without an `end` event as broken, and retries.
      logger.error({}, 'failed to run a program');
    } finally {
      writer.end();
    }
    return reply;
  });
}

/** `/invocations/{id}/browsers`: the running browsers of an invocation. */
function invocationRoutes(app: FastifyInstance, { registry, lifecycle, tokens }: BrowserDeps): void {
  const sessionsOf = (request: FastifyRequest): Session[] => {
    const { id } = readInput(Params, request.params);
    const project = projectOf(request);
    return registry.sessions().filter(({ record }) => record.projectId === project && record.invocationId === id);
  };
  app.get('/invocations/:id/browsers', async (request) => {
    const view = ({ record }: Session) => browserView(record, websocketBaseOf(request), tokens);
    return { browsers: await Promise.all(sessionsOf(request).map(view)) };
  });
  app.delete('/invocations/:id/browsers', async (request, reply) => {
    // Pooled browsers are replaced instead of reused: a killed program may have left them in any state.
    const causeOf = ({ record }: Session) => (record.pool === null ? 'deleted' : 'released');
    await Promise.all(sessionsOf(request).map((session) => lifecycle.end(session, causeOf(session))));
    return reply.code(204).send();
  });
}

/** `POST /captcha_solves/{session id}`: a solver's progress on a session's captcha, for its telemetry. */
function captchaSolveRoute(app: FastifyInstance, { registry }: BrowserDeps): void {
  const bySession = new WeakMap<Session, CaptchaSolves>();
  const solvesOf = (session: Session): CaptchaSolves => {
    const known = bySession.get(session);
    if (known !== undefined) return known;
    const created = createCaptchaSolves(session.record.telemetry);
    bySession.set(session, created);
    // While the session's telemetry still has readers.
    session.onEnd.add(() => created.stop());
    return created;
  };
  app.post('/captcha_solves/:id', async (request, reply) => {
    const { id } = readInput(Params, request.params);
    const solve = readInput(CaptchaSolve, request.body);
    solvesOf(registry.running(projectsOf(request), id)).record(solve);
    return reply.code(204).send();
  });
}
