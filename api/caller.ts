import type { FastifyRequest } from 'fastify';
import { HoldfastError } from '../contract/errors.ts';
import type { ApiKeyRecord } from '../store/queries/api-keys.ts';
import type { Scope } from '../store/scope.ts';

/** A caller with an API key. `scope` is the effective one: a subset of what the key reaches. */
export interface KeyCaller {
  kind: 'api_key';
  key: ApiKeyRecord;
  scope: Scope;
}

/** A person on the hosted page: one flow of one connection, nothing else. */
export interface HostedCaller {
  kind: 'hosted';
  connectionId: string;
  flowId: string;
  scope: Scope;
}

export type Caller = KeyCaller | HostedCaller;

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; null only on routes with `access: 'public'` and on token-carrying browser URLs. */
    caller: Caller | null;
    /** The organization that the audit row of a public route belongs to, once its handler knows it. */
    auditScope: Scope | null;
  }
  interface FastifyContextConfig {
    /**
     * Who may call the route. Default `api_key`.
     * `hosted`: also the token of the hosted page, for its own connection. `public`: everyone.
     * `browser_token`: requests whose `jwt` the browser service checks itself, else API keys.
     */
    access?: 'api_key' | 'hosted' | 'browser_token' | 'public';
    /** The answer holds a secret: it is sent only after its audit row is written. */
    answersSecret?: boolean;
    /** Leaves the route out of the audit log although it is not a read. */
    unaudited?: boolean;
  }
}

/** The caller of an authenticated route. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new HoldfastError('unauthorized', 'Send `Authorization: Bearer <API key>`');
  return request.caller;
}

/** The caller of a route that only API keys may use. */
export function keyCallerOf(request: FastifyRequest): KeyCaller {
  const caller = callerOf(request);
  if (caller.kind !== 'api_key') {
    throw new HoldfastError('forbidden', 'The token of the hosted page may not do this; use an API key');
  }
  return caller;
}
