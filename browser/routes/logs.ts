import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { LogEvent, LogStreamQuery, SupervisedPart } from '../../contract/logs.ts';
import { openEventStream } from '../../http/event-stream.ts';
import type { BrowserDeps } from '../deps.ts';
import { openFile } from '../files/read.ts';
import { projectsOf } from '../http/caller.ts';
import type { Router } from '../http/router.ts';
import { partLogFile } from '../logs/part-log.ts';
import { tailLines } from '../logs/tail.ts';
import type { Session } from '../session/session.ts';

/** `GET /browsers/{id}/logs/stream`: a log from its beginning, optionally followed as it grows. */
export function logRoutes({ route }: Router, deps: BrowserDeps): void {
  route(BROWSER_ROUTES.logsStream, async ({ request, params, query, reply }) => {
    const session = deps.registry.running(projectsOf(request), params.id);
    // Opening the stream counts as activity; reading it does not keep the browser alive.
    session.activity.begin()();
    const openLog = opener(session, query);
    const first = await openLog();
    if (first === null) throw new HoldfastError('not_found', missing(query));
    const gone = new AbortController();
    const stop = (): void => {
      gone.abort();
    };
    session.onEnd.add(stop);
    const stream = openEventStream(reply);
    stream.onClose(stop);
    try {
      const tail = { open: openLog, follow: query.follow, signal: gone.signal };
      for await (const lines of tailLines(first, tail)) await stream.send(lines.map(frameOf).join(''));
    } finally {
      session.onEnd.delete(stop);
      stream.end();
    }
    return reply;
  });
}

function opener({ workspace }: Session, { source, path, supervisor_process: part }: LogStreamQuery) {
  return async (): Promise<FileHandle | null> => {
    if (source === 'path') return path === undefined ? null : openFile(workspace.files, path);
    return part === undefined ? null : openPartLog(workspace.folder.logs, part);
  };
}

function openPartLog(logsFolder: string, part: SupervisedPart): Promise<FileHandle | null> {
  return open(partLogFile(logsFolder, part), constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
}

function missing({ source, supervisor_process: part }: LogStreamQuery): string {
  return source === 'path'
    ? 'path: no such file or directory in the session'
    : `supervisor_process: ${part ?? ''} has logged nothing in this session, or is not part of it`;
}

function frameOf(message: string): string {
  const event: LogEvent = { event: 'log', message, timestamp: new Date().toISOString() };
  return `data: ${JSON.stringify(event)}\n\n`;
}
