import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { FileWatch, WatchFolder } from '../../contract/files.ts';
import type { BrowserDeps } from '../deps.ts';
import { projectsOf } from '../http/caller.ts';
import { openEventStream } from '../../http/event-stream.ts';
import { withSession } from '../http/with-session.ts';
import { SessionParams, WatchParams } from './params.ts';

/** `/browsers/{id}/fs/watch`: what changes in a folder of the session, as it changes. */
export function fileWatchRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.post(
    '/browsers/:id/fs/watch',
    { schema: { params: SessionParams, body: WatchFolder, response: { 200: FileWatch } } },
    (request) =>
      withSession(deps, request, request.params.id, async ({ space }) => {
        const { path, recursive = false } = request.body;
        return { watch_id: await space.watches.start(path, recursive) };
      }),
  );
  typed.get('/browsers/:id/fs/watch/:watchId/events', { schema: { params: WatchParams } }, async (request, reply) => {
    const session = deps.registry.running(projectsOf(request), request.params.id);
    // Reading is a call, but whoever only watches does not keep a browser alive.
    session.activity.begin()();
    const events = session.space.watches.events(request.params.watchId);
    const gone = new AbortController();
    const stream = openEventStream(reply);
    stream.onClose(() => {
      gone.abort();
    });
    for await (const event of events.read(gone.signal)) {
      await stream.send('comment' in event ? `: ${event.comment}\n\n` : `data: ${JSON.stringify(event)}\n\n`);
    }
    stream.end();
  });
  typed.delete('/browsers/:id/fs/watch/:watchId', { schema: { params: WatchParams } }, async (request, reply) => {
    await withSession(deps, request, request.params.id, ({ space }) => space.watches.stop(request.params.watchId));
    return reply.code(204).send();
  });
}
