import type { FastifyInstance } from 'fastify';
import type { BrowserDeps } from '../deps.ts';
import { createAuthorizer } from '../http/authentication.ts';
import { projectsOf } from '../http/caller.ts';

/** `GET /session_usage`: how many sessions projects have, told to the API alone. Not below /browsers, which callers reach. */
export function sessionUsageRoute(app: FastifyInstance, deps: BrowserDeps): void {
  const admit = createAuthorizer(deps);
  app.get('/session_usage', { onRequest: (request) => admit('key', request) }, (request) =>
    deps.registry.usage(projectsOf(request)),
  );
}
