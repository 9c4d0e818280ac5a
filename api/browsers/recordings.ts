import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { PROJECTS_HEADER } from '../../contract/browsers.ts';
import type { RecordingRecord } from '../../store/queries/recordings.ts';
import { publicAddressHeaders } from './forwarding.ts';
import type { ApiParts } from '../parts.ts';

/** `/browsers/{id}/replays` and `/browsers/{id}/replays/{replay_id}`. */
const REPLAY_PATH = /^\/browsers\/([^/]+)\/replays(?:\/([^/]+))?$/;
/** How long the browser service may take to list its own replays, in milliseconds. */
const RESPONSE_TIMEOUT_MS = 10_000;

const Replays = z.array(z.looseObject({ replay_id: z.string() }));

/**
 * Serves the recordings of connections' sessions from the store, since those sessions have usually ended. Returns false for
 * any other request, which the browser service handles.
 */
export async function serveRecordings(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: Pick<ApiParts, 'store' | 'settings' | 'browserService'>,
  projects: readonly string[],
): Promise<boolean> {
  const [, session, replay] = REPLAY_PATH.exec(request.url.split('?', 1)[0] ?? '') ?? [];
  if (!['GET', 'HEAD'].includes(request.method) || session === undefined) return false;
  const sessionId = decodeURIComponent(session);
  const { recordings } = parts.store;
  if (replay === undefined) {
    const kept = (await Promise.all(projects.map((project) => recordings.list(project, sessionId)))).flat();
    if (kept.length === 0) return false;
    const others = await listServiceReplays(parts, request.url, projects);
    await reply.send([...kept.map(present), ...others]);
    return true;
  }
  const replayId = decodeURIComponent(replay);
  const matches = await Promise.all(projects.map((project) => recordings.find(project, sessionId, replayId)));
  const found = matches.find((match) => match !== null);
  if (found === undefined) return false;
  await reply
    .headers({
      'content-type': 'video/mp4',
      'content-length': String(found.bytes),
      'content-disposition': `inline; filename="${found.id}.mp4"`,
    })
    .send(Readable.from(recordings.read(found.id), { objectMode: false }));
  return true;
}

/** Replays that the browser service has of the session; empty if it does not know the session or does not respond. */
async function listServiceReplays(
  { settings, browserService }: Pick<ApiParts, 'settings' | 'browserService'>,
  path: string,
  projects: readonly string[],
): Promise<z.infer<typeof Replays>> {
  const [projectId = ''] = projects;
  const headers = { ...publicAddressHeaders(settings, null), [PROJECTS_HEADER]: projects.join(',') };
  const call = { method: 'GET', path, projectId, headers, timeoutMs: RESPONSE_TIMEOUT_MS } as const;
  return browserService.call({ ...call, schema: Replays }).catch(() => []);
}

function present({ id, startedAt, finishedAt }: RecordingRecord): Record<string, string> {
  return { replay_id: id, started_at: startedAt.toISOString(), finished_at: finishedAt.toISOString() };
}
