import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { request as ask } from 'undici';
import { z } from 'zod';
import type { RecordingRecord } from '../../store/queries/recordings.ts';
import { forwardedHeaders } from './forwarding.ts';
import type { ApiParts } from '../parts.ts';

/** `/browsers/{id}/replays` and `/browsers/{id}/replays/{replay_id}`. */
const PLACE = /^\/browsers\/([^/]+)\/replays(?:\/([^/]+))?$/;
/** How long the browser service may take to tell of its own replays, in milliseconds. */
const ANSWER_TIMEOUT_MS = 10_000;

const Listed = z.array(z.looseObject({ replay_id: z.string() })).catch([]);

/**
 * Answers for the videos of connections' sessions, which the store keeps, because a session is gone by the time that somebody
 * looks. False for everything else: that is the browser service's to answer.
 */
export async function serveRecordings(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: Pick<ApiParts, 'store' | 'settings'>,
  projects: readonly string[],
): Promise<boolean> {
  const [, session, replay] = PLACE.exec(request.url.split('?', 1)[0] ?? '') ?? [];
  if (!['GET', 'HEAD'].includes(request.method) || session === undefined) return false;
  const sessionId = decodeURIComponent(session);
  const { recordings } = parts.store;
  if (replay === undefined) {
    const kept = (await Promise.all(projects.map((project) => recordings.list(project, sessionId)))).flat();
    if (kept.length === 0) return false;
    const others = await replaysOf(parts, request.url, projects);
    await reply.send([...kept.map(view), ...others]);
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

/** What the browser service has of that session beside; nothing where it has forgotten the session or does not answer. */
async function replaysOf(
  { settings }: Pick<ApiParts, 'settings'>,
  path: string,
  projects: readonly string[],
): Promise<z.infer<typeof Listed>> {
  try {
    const answer = await ask(new URL(path, settings.browserBaseUrl), {
      headers: forwardedHeaders(settings, {}, projects),
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    });
    return Listed.parse(await answer.body.json());
  } catch {
    return [];
  }
}

function view({ id, startedAt, finishedAt }: RecordingRecord): Record<string, string> {
  return { replay_id: id, started_at: startedAt.toISOString(), finished_at: finishedAt.toISOString() };
}
