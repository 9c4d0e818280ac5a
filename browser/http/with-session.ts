import type { FastifyRequest } from 'fastify';
import type { BrowserDeps } from '../deps.ts';
import type { Session } from '../session/session.ts';
import { projectOf } from './caller.ts';

/** Runs a call on a running session; it counts as activity for as long as it takes. Throws `not_found`. */
export async function withSession<T>(
  deps: BrowserDeps,
  request: FastifyRequest,
  idOrName: string,
  action: (session: Session) => Promise<T>,
): Promise<T> {
  const session = deps.registry.running(projectOf(request), idOrName);
  const done = session.activity.begin();
  try {
    return await action(session);
  } finally {
    done();
  }
}
