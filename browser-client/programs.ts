import { Readable } from 'node:stream';
import { ProgramEvent, type ProgramEnd, type ProgramRun } from '../contract/programs.ts';
import { readEvents } from './answers.ts';
import { BrowserServiceError } from './errors.ts';
import type { BrowserService } from './service.ts';

/** Sends the archive of a program (`PUT /programs/{id}`). False where programs are not run: it has no sandbox. */
export async function sendProgram(
  service: BrowserService,
  projectId: string,
  id: string,
  archive: Buffer,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `/programs/${id}`;
  // Not as one chunk: what refuses it does so before it has come.
  const content = Readable.from([archive]);
  const { status } = await service.exchange({ method: 'PUT', path, projectId, content, schema: null, signal });
  if (status < 300) return true;
  if (status === 403) return false;
  throw new BrowserServiceError(
    'browser_error',
    `The browser service rejected a program (${String(status)})`,
    status >= 500,
  );
}

/**
 * Builds or runs a program (`POST /programs/{id}/runs`), which ends with the signal. Rejects with `session_gone` when the service
 * does not have it, with `service_unavailable` when nothing has begun, with `browser_error` when it broke off.
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
  throw new BrowserServiceError('browser_error', 'The run of a program broke off', true);
}

/** Ends the browser sessions of an invocation (`DELETE /invocations/{id}/browsers`). */
export async function endInvocationBrowsers(service: BrowserService, projectId: string, id: string): Promise<void> {
  await service.call({ method: 'DELETE', path: `/invocations/${id}/browsers`, projectId, schema: null });
}
