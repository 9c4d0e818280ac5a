import { z } from 'zod';
import type { SupervisedPart } from '../contract/logs.ts';
import { readEvents } from './answers.ts';
import type { BrowserService } from './service.ts';
import type { SessionTarget } from './sessions.ts';
import { sessionPath } from './sessions.ts';

/** Which log of which session is read; `follow` goes on with what is added. */
interface LogTarget extends SessionTarget {
  log: { path: string } | { part: SupervisedPart };
  follow: boolean;
}

/** What is read of a line; peers leave out `event`, and write times in their own way. */
const Line = z.object({ event: z.literal('log').nullish(), message: z.string() });

/**
 * The lines of a log (`logs/stream`). Throws `session_gone` where there is no such log as well: peers do not tell them
 * apart, and whoever reads a log looks at the session anyway.
 */
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
