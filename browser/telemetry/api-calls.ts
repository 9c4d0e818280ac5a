import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BROWSER_ROUTES, type BrowserRoute } from '../../contract/browser-routes.ts';
import type { BrowserDeps } from '../deps.ts';
import { projectsOf } from '../http/caller.ts';
import type { Session } from '../session/session.ts';

/**
 * Records every call inside a session, including failed ones, once its response has been sent: `api_call` if it drives the
 * browser, else `platform_api_call`. Routes need not do anything for it.
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

/** The session of a call; null if it does not exist any more. */
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

/** Areas of a session's paths whose calls drive the browser. */
const DRIVING_AREAS = new Set(['computer', 'playwright', 'curl']);
/** The operation whose event contains its code. */
const EXECUTE_CODE: OperationName = 'ExecutePlaywrightCode';

type OperationName = Capitalize<keyof typeof BROWSER_ROUTES>;

/** An operation inside a session, as named in telemetry. */
interface Operation {
  /** Handler name of the operation, such as `ClickMouse`. */
  id: string;
  event: 'api_call' | 'platform_api_call';
}

const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  Object.entries<BrowserRoute>(BROWSER_ROUTES).flatMap(([name, { method, url, opens }]) => {
    const area = /^\/browsers\/:id\/(\w+)/.exec(url)?.[1];
    // Reading telemetry is not recorded, else a reader would see its own calls.
    if (area === undefined || area === 'telemetry' || opens === 'link') return [];
    const id = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    return [[`${method} ${url}`, { id, event: DRIVING_AREAS.has(area) ? 'api_call' : 'platform_api_call' }] as const];
  }),
);

/** The recorded operation of a route below `/browsers/:id/`; null for other routes, telemetry and links. */
export function operationOf(method: string, route: string): Operation | null {
  return OPERATIONS.get(`${method === 'HEAD' ? 'GET' : method} ${route}`) ?? null;
}
