import { Readable } from 'node:stream';
import { ProgramEvent, type ProgramEnd, type ProgramRun } from '../contract/programs.ts';
import { readEvents } from './answers.ts';
import { BrowserServiceError } from './errors.ts';
import type { BrowserService } from './service.ts';

/** Uploads a program's archive (`PUT /programs/{id}`). False if the service has no sandbox to run programs in. */
export async function sendProgram(
  service: BrowserService,
  projectId: string,
  id: string,
  archive: Buffer,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `/programs/${id}`;
  // Streamed, so that a rejection is read before the upload completes.
  const content = Readable.from([archive]);
  const { status } = await service.exchange({ method: 'PUT', path, projectId, content, schema: null, signal });
  if (status < 300) return true;
  if (status === 403) return false;
  const message = `The browser service rejected a program (${String(status)})`;
  throw new BrowserServiceError('browser_error', message, status >= 500);
}

/**
 * Builds or runs a program (`POST /programs/{id}/runs`); the signal ends it. Rejects with `session_gone` if the service does not
 * have the program, `service_unavailable` if the run did not start, and `browser_error` if the stream broke off.
 */
export async function runProgram(
  service: BrowserService,
  target: { projectId: string; id: string },
  run: ProgramRun,
  onLog: (event: { message: string; timestamp: string }) => void,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const path = `/programs/${target.id}/runs`;
  const call = { method: 'POST' as const, path, projectId: target.projectId, body: run, schema: null };
  const stream = await service.open({ ...call, signal, endless: true });
  for await (const event of readEvents(stream, ProgramEvent, signal)) {
    if (event.event === 'end') return event.end;
    onLog(event);
  }
  throw new BrowserServiceError('browser_error', 'The stream of the program run broke off', true);
}

/** Ends the browser sessions of an invocation (`DELETE /invocations/{id}/browsers`). */
export async function endInvocationBrowsers(service: BrowserService, projectId: string, id: string): Promise<void> {
  await service.call({ method: 'DELETE', path: `/invocations/${id}/browsers`, projectId, schema: null });
}
