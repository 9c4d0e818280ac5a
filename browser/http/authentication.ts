import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { BrowserRoute } from '../../contract/browser-routes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { BrowserDeps } from '../deps.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Project of the session whose token authorized the request; null if the service's key did. */
    tokenProject: string | null;
  }
}

/**
 * Authorizes a request by the service's key, or by the token of the session in its path. Throws `unauthorized`, or `not_found`
 * for the token of a session that has ended.
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
    // Hashing makes the lengths equal, and the timing independent of the key.
    if (token === undefined || !timingSafeEqual(digest(token), wanted)) {
      throw new HoldfastError('unauthorized', 'Send the browser service’s API key as `Authorization: Bearer <key>`');
    }
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A string among unvalidated parameters; empty if missing. */
function textOf(values: unknown, name: string): string {
  if (typeof values !== 'object' || values === null) return '';
  const value: unknown = Object.entries(values).find(([key]) => key === name)?.[1];
  return typeof value === 'string' ? value : '';
}
