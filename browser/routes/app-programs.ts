import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { ProgramId, ProgramRun, type ProgramEvent } from '../../contract/programs.ts';
import { abandonableBody } from '../../http/bodies.ts';
import { readInput } from '../../http/errors.ts';
import { eventFrame, openEventStream } from '../../http/event-stream.ts';
import type { BrowserDeps } from '../deps.ts';
import { createAdmission } from '../http/authentication.ts';
import { projectOf, websocketBaseOf } from '../http/caller.ts';
import type { Session } from '../session/session.ts';
import { browserView } from '../session/view.ts';

const Params = z.object({ id: ProgramId });
const Invocation = z.object({ id: z.string().min(1).max(255) });

/**
 * `PUT /programs/{id}`, `POST /programs/{id}/runs` and `/invocations/{id}/browsers`: programs of users, for workers and the
 * API alone. A run is answered as a stream of events, and ends with its reader.
 */
export function appProgramRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  const admit = createAdmission(deps);
  void app.register((guarded, _, done) => {
    guarded.addHook('onRequest', (request) => admit('key', request));
    guarded.addContentTypeParser('application/octet-stream', (_request, body, parsed) => {
      parsed(null, body);
    });
    guarded.put('/programs/:id', async (request, reply) => {
      const { id } = readInput(Params, request.params);
      const content = request.body instanceof Readable ? abandonableBody(request.body) : Readable.from([]);
      await deps.programs.receive(id, content);
      return reply.code(204).send();
    });
    guarded.post('/programs/:id/runs', async (request, reply) => {
      const { id } = readInput(Params, request.params);
      const run = readInput(ProgramRun, request.body);
      // Refusals are answers as any; what has begun is told as a stream.
      const start = await deps.programs.prepare(id, run);
      const writer = openEventStream(reply);
      const gone = new AbortController();
      writer.onClose(() => gone.abort());
      const send = (event: ProgramEvent): Promise<void> => writer.send(eventFrame(event.event, event));
      const log = (message: string): void => {
        void send({ event: 'log', timestamp: new Date().toISOString(), message });
      };
      try {
        await send({ event: 'end', end: await start(log, gone.signal) });
      } catch {
        // A stream without an end is one that broke off: its reader asks again.
        deps.logger.error({}, 'failed to run a program');
      } finally {
        writer.end();
      }
      return reply;
    });
    guarded.get('/invocations/:id/browsers', async (request) => {
      const sessions = sessionsOf(deps, request, readInput(Invocation, request.params).id);
      const view = ({ record }: Session) => browserView(record, websocketBaseOf(request), deps.tokens);
      return { browsers: await Promise.all(sessions.map(view)) };
    });
    guarded.delete('/invocations/:id/browsers', async (request, reply) => {
      const sessions = sessionsOf(deps, request, readInput(Invocation, request.params).id);
      // A browser of a pool is not used again: nobody knows how a program that was killed has left it. Its pool replaces it.
      const causeOf = ({ record }: Session) => (record.pool === null ? 'deleted' : 'released');
      await Promise.all(sessions.map((session) => deps.lifecycle.end(session, causeOf(session))));
      return reply.code(204).send();
    });
    done();
  });
}

/** The running browsers of an invocation. */
function sessionsOf({ registry }: BrowserDeps, request: FastifyRequest, invocationId: string): Session[] {
  const project = projectOf(request);
  return registry
    .sessions()
    .filter(({ record }) => record.projectId === project && record.invocationId === invocationId);
}
