import type { FastifyInstance, HTTPMethods } from 'fastify';
import { HoldfastError } from '../../contract/errors.ts';
import type { BrowserDeps } from '../deps.ts';
import { withSession } from '../http/with-session.ts';

/** Operations of the interface that this build does not have yet, by the part of a session they belong to. */
const UNBUILT: readonly (readonly [HTTPMethods, string])[] = [['POST', 'extensions']];

/** They answer 501 (404 when the session is gone), so that a caller knows what is missing instead of guessing. */
export function unbuiltRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  for (const [method, path] of UNBUILT) {
    app.route<{ Params: { id: string } }>({
      method,
      url: `/browsers/:id/${path}`,
      handler: (request) =>
        withSession(deps, request, request.params.id, () =>
          Promise.reject(
            new HoldfastError(
              'not_implemented',
              `This build of the browser service has no ${path.split('/')[0] ?? path} operations yet`,
            ),
          ),
        ),
    });
  }
}
