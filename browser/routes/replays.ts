import { createReadStream } from 'node:fs';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { Replay, ReplayStart } from '../../contract/replays.ts';
import type { BrowserDeps } from '../deps.ts';
import { projectsOf, websocketBaseOf } from '../http/caller.ts';
import { cutOffWhenStuck } from '../../http/readers.ts';
import { withSession } from '../http/with-session.ts';
import type { ReplayRecord } from '../replay/replay-store.ts';
import { sizeOf } from '../replay/replay-store.ts';
import { SessionParams } from './params.ts';

const ReplayParams = SessionParams.extend({ replayId: z.string().min(1).max(64) });
const Body = ReplayStart.nullish().transform((body) => body ?? ReplayStart.parse({}));

/** `/browsers/{id}/replays`: recordings of a session, which can be read when it has ended, too. */
export function replayRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.post(
    '/browsers/:id/replays',
    { schema: { params: SessionParams, body: Body, response: { 201: Replay } } },
    async (request, reply) => {
      const record = await withSession(deps, request, request.params.id, (session) =>
        deps.replays.start(session, request.body),
      );
      return reply.code(201).send(await replayView(deps, request, record));
    },
  );
  typed.get(
    '/browsers/:id/replays',
    { schema: { params: SessionParams, response: { 200: z.array(Replay) } } },
    async (request) => {
      const projects = projectsOf(request);
      const records = await deps.replayStore.list(projects, sessionIdOf(deps, projects, request.params.id));
      // A service that was restarted does not know the session any more; what it recorded is there.
      if (records.length === 0) deps.registry.find(projects, request.params.id, true);
      return Promise.all(records.map((record) => replayView(deps, request, record)));
    },
  );
  typed.get('/browsers/:id/replays/:replayId', { schema: { params: ReplayParams } }, async (request, reply) =>
    sendVideo(deps, reply, await recordOf(deps, projectsOf(request), request.params)),
  );
  typed.post('/browsers/:id/replays/:replayId/stop', { schema: { params: ReplayParams } }, async (request, reply) => {
    const record = await recordOf(deps, projectsOf(request), request.params);
    await deps.replays.stop(record.id);
    return reply.code(200).send();
  });
}

/** `GET /browsers/{id}/replays/{replay_id}/view?jwt=…`: the video for a person, by the token in `replay_view_url`. */
export function replayViewRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      '/browsers/:id/replays/:replayId/view',
      { schema: { params: ReplayParams, querystring: z.object({ jwt: z.string().max(4096).optional() }) } },
      async (request, reply) => {
        const { id, replayId } = request.params;
        if (!(await deps.tokens.verify(request.query.jwt ?? '', replayId, 'replay'))) {
          throw new HoldfastError(
            'unauthorized',
            'This link is invalid or has expired; list the replays for a new one',
          );
        }
        const record = await deps.replayStore.byId(replayId);
        if (record?.sessionId !== id) throw noReplay(replayId);
        return sendVideo(deps, reply, record);
      },
    );
}

async function sendVideo(deps: BrowserDeps, reply: FastifyReply, record: ReplayRecord): Promise<FastifyReply> {
  const file = deps.replayStore.videoPath(record.id);
  // What is there now: while it is being recorded, all but the last seconds.
  const size = await sizeOf(file);
  cutOffWhenStuck(reply.raw);
  return reply
    .headers({
      'content-type': 'video/mp4',
      'content-length': String(size),
      'content-disposition': `inline; filename="${record.id}.mp4"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    })
    .send(size === 0 ? '' : createReadStream(file, { end: size - 1 }));
}

async function recordOf(
  deps: BrowserDeps,
  projects: readonly string[],
  { id, replayId }: z.infer<typeof ReplayParams>,
): Promise<ReplayRecord> {
  const record = await deps.replayStore.find(projects, sessionIdOf(deps, projects, id), replayId);
  if (record === null) throw noReplay(replayId);
  return record;
}

/** The id behind a name, while the session is known. */
function sessionIdOf(deps: BrowserDeps, projects: readonly string[], idOrName: string): string {
  if (idOrName.startsWith('brw_')) return idOrName;
  return deps.registry.find(projects, idOrName, true).id;
}

function noReplay(id: string): HoldfastError {
  return new HoldfastError('not_found', `Replay not found: ${id.slice(0, 64)}; replays are kept for a week`);
}

async function replayView(deps: BrowserDeps, request: FastifyRequest, record: ReplayRecord): Promise<Replay> {
  const base = websocketBaseOf(request).replace(/^ws/, 'http');
  const token = await deps.tokens.sign(record.id, 'replay');
  return {
    replay_id: record.id,
    started_at: record.startedAt,
    finished_at: record.finishedAt,
    replay_view_url: `${base}/browsers/${record.sessionId}/replays/${record.id}/view?jwt=${token}`,
  };
}
