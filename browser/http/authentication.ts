import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { BrowserRoute } from '../../contract/browser-routes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { BrowserDeps } from '../deps.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Project of the session whose own token opened the operation; null when the service's key did. */
    tokenProject: string | null;
  }
}

/**
 * Who may call an operation, judged before anything of the request is read. Throws `unauthorized`, or `not_found` for the
 * token of a session that has ended. A token counts for the session in the path alone, by its id.
 */
export function createAuthorizer({ apiKey, tokens, registry }: Pick<BrowserDeps, 'apiKey' | 'tokens' | 'registry'>) {
  const checkBearer = createBearerCheck(apiKey);
  return async (opens: BrowserRoute['opens'], request: FastifyRequest): Promise<void> => {
    if (opens === 'link') return;
    const token = opens === 'session' ? textOf(request.query, 'jwt') : '';
    if (token === '') {
      checkBearer(request);
      return;
    }
    const id = textOf(request.params, 'id');
    if (!(await tokens.verify(token, id, 'cdp'))) {
      const message = 'The token in the URL is missing, expired or for another session; get the session for a new one';
      throw new HoldfastError('unauthorized', message);
    }
    const session = registry.byId(id);
    if (session === undefined) throw new HoldfastError('not_found', 'The browser session has ended');
    request.tokenProject = session.record.projectId;
  };
}

/** Throws `unauthorized` unless the request carries the service's key. Compares in constant time. */
function createBearerCheck(apiKey: string): (request: FastifyRequest) => void {
  const wanted = digest(apiKey);
  return (request) => {
    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
    // Both sides are hashed first: equal lengths, and nothing of the key in the comparison's timing.
    if (token === undefined || !timingSafeEqual(digest(token), wanted)) {
      throw new HoldfastError('unauthorized', 'Send the browser service’s API key as `Authorization: Bearer <key>`');
    }
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A text among parameters that nobody has checked yet; empty when there is none. */
function textOf(values: unknown, name: string): string {
  if (typeof values !== 'object' || values === null) return '';
  const value: unknown = Object.entries(values).find(([key]) => key === name)?.[1];
  return typeof value === 'string' ? value : '';
}
