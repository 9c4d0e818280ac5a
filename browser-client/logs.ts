import { z } from 'zod';
import type { SupervisedPart } from '../contract/logs.ts';
import { readEvents } from './answers.ts';
import type { BrowserService } from './service.ts';
import type { SessionTarget } from './sessions.ts';
import { sessionPath } from './sessions.ts';

/** A log of a session; `follow` keeps reading as lines are added. */
interface LogTarget extends SessionTarget {
  log: { path: string } | { part: SupervisedPart };
  follow: boolean;
}

/** The part of a line that is read; other implementations omit `event`. */
const Line = z.object({ event: z.literal('log').nullish(), message: z.string() });

/** Reads the lines of a log (`logs/stream`). Throws `session_gone` if the session or the log does not exist. */
export async function* readLog(
  service: BrowserService,
  { projectId, sessionId, log, follow }: LogTarget,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const query = new URLSearchParams(
    'path' in log ? { source: 'path', path: log.path } : { source: 'supervisor', supervisor_process: log.part },
  );
  query.set('follow', String(follow));
  const path = `${sessionPath(sessionId)}/logs/stream?${query.toString()}`;
  const stream = await service.open({ method: 'GET', path, projectId, schema: null, endless: true, signal });
  for await (const { message } of readEvents(stream, Line, signal)) yield message;
}
