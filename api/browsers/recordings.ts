import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { request as httpRequest } from 'undici';
import { z } from 'zod';
import type { RecordingRecord } from '../../store/queries/recordings.ts';
import { forwardedHeaders } from './forwarding.ts';
import type { ApiParts } from '../parts.ts';

/** `/browsers/{id}/replays` and `/browsers/{id}/replays/{replay_id}`. */
const REPLAY_PATH = /^\/browsers\/([^/]+)\/replays(?:\/([^/]+))?$/;
/** How long the browser service may take to list its own replays, in milliseconds. */
const RESPONSE_TIMEOUT_MS = 10_000;

const Listed = z.array(z.looseObject({ replay_id: z.string() })).catch([]);

/**
 * Serves the recordings of connections' sessions from the store, since those sessions have usually ended. Returns false for
 * any other request, which the browser service handles.
 */
export async function serveRecordings(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: Pick<ApiParts, 'store' | 'settings'>,
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
  { settings }: Pick<ApiParts, 'settings'>,
  path: string,
  projects: readonly string[],
): Promise<z.infer<typeof Listed>> {
  try {
    const answer = await httpRequest(new URL(path, settings.browserBaseUrl), {
      headers: forwardedHeaders(settings, {}, projects),
      headersTimeout: RESPONSE_TIMEOUT_MS,
      bodyTimeout: RESPONSE_TIMEOUT_MS,
    });
    return Listed.parse(await answer.body.json());
  } catch {
    return [];
  }
}

function present({ id, startedAt, finishedAt }: RecordingRecord): Record<string, string> {
  return { replay_id: id, started_at: startedAt.toISOString(), finished_at: finishedAt.toISOString() };
}
