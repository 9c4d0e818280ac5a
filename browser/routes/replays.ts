import { createReadStream } from 'node:fs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { Replay } from '../../contract/replays.ts';
import { ReplayStart } from '../../contract/replays.ts';
import { disconnectWhenStalled } from '../../http/slow-clients.ts';
import type { BrowserDeps } from '../deps.ts';
import { projectsOf, websocketBaseOf } from '../http/caller.ts';
import type { Router } from '../http/router.ts';
import type { ReplayRecord } from '../replay/replay-store.ts';
import { videoSize } from '../replay/replay-store.ts';

/** `/browsers/{id}/replays`: recordings of a session, which remain available after it ends. */
export function replayRoutes({ route, inSession }: Router, deps: BrowserDeps): void {
  inSession(BROWSER_ROUTES.startReplay, async (session, { body, request }) => {
    const record = await deps.replays.start(session, body ?? ReplayStart.parse({}));
    return replayView(deps, request, record);
  });
  route(BROWSER_ROUTES.listReplays, async ({ request, params }) => {
    const projects = projectsOf(request);
    const records = await deps.replayStore.list(projects, sessionIdOf(deps, projects, params.id));
    // After a restart the service does not know the session, but its recordings exist.
    if (records.length === 0) deps.registry.find(projects, params.id, true);
    return Promise.all(records.map((record) => replayView(deps, request, record)));
  });
  route(BROWSER_ROUTES.downloadReplay, async ({ request, params, reply }) =>
    sendVideo(deps, reply, await recordOf(deps, projectsOf(request), params)),
  );
  route(BROWSER_ROUTES.stopReplay, async ({ request, params }) => {
    const record = await recordOf(deps, projectsOf(request), params);
    await deps.replays.stop(record.id);
  });
  // The video for a person, authorized by the token in `replay_view_url`.
  route(BROWSER_ROUTES.viewReplay, async ({ params: { id, replayId }, query, reply }) => {
    if (!(await deps.tokens.verify(query.jwt ?? '', replayId, 'replay'))) {
      throw new HoldfastError('unauthorized', 'This link is invalid or has expired; list the replays for a new one');
    }
    const record = await deps.replayStore.byId(replayId);
    if (record?.sessionId !== id) throw noReplay(replayId);
    return sendVideo(deps, reply, record);
  });
}

async function sendVideo(deps: BrowserDeps, reply: FastifyReply, record: ReplayRecord): Promise<FastifyReply> {
  const file = deps.replayStore.videoPath(record.id);
  // The current size: while recording, all but the last seconds.
  const size = await videoSize(file);
  disconnectWhenStalled(reply.raw);
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
  { id, replayId }: { id: string; replayId: string },
): Promise<ReplayRecord> {
  const record = await deps.replayStore.find(projects, sessionIdOf(deps, projects, id), replayId);
  if (record === null) throw noReplay(replayId);
  return record;
}

/** Resolves a session's name to its id, while the session is known. */
function sessionIdOf(deps: BrowserDeps, projects: readonly string[], idOrName: string): string {
  if (idOrName.startsWith('brw_')) return idOrName;
  return deps.registry.find(projects, idOrName, true).id;
}

function noReplay(id: string): HoldfastError {
  return new HoldfastError('not_found', `Replay not found: ${id.slice(0, 64)}; it was deleted or has expired`);
}

async function replayView(deps: BrowserDeps, request: FastifyRequest, record: ReplayRecord): Promise<Replay> {
  const base = websocketBaseOf(request).replace(/^ws/, 'http');
  const token = await deps.tokens.sign(record.id, 'replay', record.projectId);
  return {
    replay_id: record.id,
    started_at: record.startedAt,
    finished_at: record.finishedAt,
    replay_view_url: `${base}/browsers/${record.sessionId}/replays/${record.id}/view?jwt=${token}`,
  };
}
