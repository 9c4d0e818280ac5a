import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { BrowserRoute } from '../../contract/browser-routes.ts';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
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
/** The operation whose event carries the code that it was given. */
const EXECUTE_CODE: OperationName = 'ExecutePlaywrightCode';

type OperationName = Capitalize<keyof typeof BROWSER_ROUTES>;

/** A call inside a session, as telemetry names it. */
export interface Operation {
  /** Handler name of the operation, such as `ClickMouse`. */
  id: string;
  event: 'api_call' | 'platform_api_call';
}

const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  Object.entries<BrowserRoute>(BROWSER_ROUTES).flatMap(([name, { method, url, opens }]) => {
    const area = /^\/browsers\/:id\/(\w+)/.exec(url)?.[1];
    // Reading telemetry is none of the calls that it tells of: a reader would read itself.
    if (area === undefined || area === 'telemetry' || opens === 'link') return [];
    const id = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    return [[`${method} ${url}`, { id, event: DRIVING.has(area) ? 'api_call' : 'platform_api_call' }] as const];
  }),
);

/** The operation of a route below `/browsers/:id/`; null for routes of sessions themselves, of telemetry and of links. */
export function operationOf(method: string, route: string): Operation | null {
  return OPERATIONS.get(`${method === 'HEAD' ? 'GET' : method} ${route}`) ?? null;
}
