import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { BrowserDeps } from '../deps.ts';
import { projectOf } from '../http/caller.ts';
import type { Session } from '../session/session.ts';
import { EXECUTE_CODE, operationOf } from './operations.ts';

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
    return registry.running(projectOf(request), params.id);
  } catch {
    return null;
  }
}

function codeOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('code' in body)) return undefined;
  return typeof body.code === 'string' ? body.code : undefined;
}
