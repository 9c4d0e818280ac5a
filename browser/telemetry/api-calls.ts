import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { BrowserDeps } from '../deps.ts';
import { projectsOf } from '../http/caller.ts';
import type { Session } from '../session/session.ts';

/**
 * Tells every call inside a session, refused ones too, when its answer has been sent: `api_call` where it drives the
 * browser, `platform_api_call` where it manages what is around it. No route has to do anything for it.
 */
export function recordApiCalls(app: FastifyInstance, deps: Pick<BrowserDeps, 'registry'>): void {
  app.addHook('onResponse', (request, reply, done) => {
    done();
    const operation = operationOf(request.method, request.routeOptions.url ?? '');
    const session = operation === null ? null : sessionOf(deps, request);
    if (operation === null || session === null) return;
    const { telemetry } = session.record;
    const code = operation.id === EXECUTE_CODE && !telemetry.private ? codeOf(request.body) : undefined;
    telemetry.emit(
      operation.event,
      { kind: 'kernel_api' },
      {
        request_id: request.id,
        operation_id: operation.id,
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
        ...(code === undefined ? {} : { code }),
      },
    );
  });
}

/** The session that was called; null when there is none, or not any more. */
function sessionOf({ registry }: Pick<BrowserDeps, 'registry'>, request: FastifyRequest): Session | null {
  const { params } = request;
  if (typeof params !== 'object' || params === null || !('id' in params) || typeof params.id !== 'string') return null;
  try {
    return registry.running(projectsOf(request), params.id);
  } catch {
    return null;
  }
}

function codeOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('code' in body)) return undefined;
  return typeof body.code === 'string' ? body.code : undefined;
}

/** Part of a session's paths whose calls drive the browser; all others manage what is around it. */
const DRIVING = new Set(['computer', 'playwright', 'curl']);
/** Reading telemetry is none of the calls that it tells of: a reader would read itself. */
const UNTOLD = new Set(['telemetry']);

/** The operation whose event carries the code that it was given. */
const EXECUTE_CODE = 'ExecutePlaywrightCode';

/** Names of operations that do not follow from their path. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['POST computer/type', 'TypeText'],
  ['POST computer/batch', 'BatchComputerAction'],
  ['POST computer/screenshot', 'TakeScreenshot'],
  ['POST computer/cursor', 'SetCursor'],
  ['POST computer/clipboard/read', 'ReadClipboard'],
  ['POST computer/clipboard/write', 'WriteClipboard'],
  ['POST playwright/execute', EXECUTE_CODE],
  ['POST replays', 'StartReplay'],
  ['GET replays', 'ListReplays'],
  ['GET replays/:', 'DownloadReplay'],
  ['POST replays/:/stop', 'StopReplay'],
  ['POST fs/watch', 'StartFsWatch'],
  ['GET fs/watch/:/events', 'StreamFsEvents'],
  ['DELETE fs/watch/:', 'StopFsWatch'],
  ['POST extensions', 'UploadExtensions'],
]);

/** A call inside a session, as telemetry names it. */
export interface Operation {
  /** Handler name of the operation, such as `ClickMouse`. */
  id: string;
  event: 'api_call' | 'platform_api_call';
}

/**
 * The operation of a route below `/browsers/:id/`; null for routes of sessions themselves, and of telemetry. Routes that
 * are not listed are named by their path: `process/:processId/stdout/stream` is `ProcessStdoutStream`.
 */
export function operationOf(method: string, route: string): Operation | null {
  const path = /^\/browsers\/:\w+\/(?<path>.+)$/.exec(route)?.groups?.['path'];
  if (path === undefined) return null;
  const parts = path.split('/');
  const [area = ''] = parts;
  if (UNTOLD.has(area)) return null;
  const key = `${method} ${parts.map((part) => (part.startsWith(':') ? ':' : part)).join('/')}`;
  // Computer actions and file operations are known by their own names alone.
  const named = ['computer', 'fs'].includes(area) && parts.length > 1 ? parts.slice(1) : parts;
  const id =
    NAMES.get(key) ??
    named
      .filter((part) => /^\w/.test(part))
      .map(pascal)
      .join('');
  return { id, event: DRIVING.has(area) ? 'api_call' : 'platform_api_call' };
}

function pascal(part: string): string {
  return part
    .split('_')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
}
