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

/** A program with a token that may give codes to one connection, and nothing else. */
export interface CodesCaller {
  kind: 'codes';
  connectionId: string;
  scope: Scope;
}

export type Caller = KeyCaller | HostedCaller | CodesCaller;

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
     * `hosted`: also the token of the hosted page, for its own connection. `codes`: also a token for the codes of its connection.
     * `public`: everyone.
     * `browser_token`: requests whose `jwt` the browser service checks itself, else API keys.
     */
    access?: 'api_key' | 'hosted' | 'codes' | 'browser_token' | 'public';
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

/** The caller of a route that keys of one project may not use. Throws `forbidden`, with `refusal` for them. */
export function organizationWideCallerOf(request: FastifyRequest, refusal: string): KeyCaller {
  const caller = keyCallerOf(request);
  if (caller.key.projectId !== null) throw new HoldfastError('forbidden', refusal);
  return caller;
}

/** A running program: its invocation, and the host by which it has reached us. */
export interface ProgramCaller {
  invocationId: string;
  host: string;
}

/** The program that asks; null for everybody else. */
export function programOf({ caller, host }: Pick<FastifyRequest, 'caller' | 'host'>): ProgramCaller | null {
  const invocationId = caller?.kind === 'api_key' ? caller.key.invocationId : null;
  return invocationId === null ? null : { invocationId, host };
}

/** Throws `forbidden` for a program: what it makes must not reach further than its invocation. */
export function refusePrograms(request: FastifyRequest, what: string): void {
  if (programOf(request) !== null) throw new HoldfastError('forbidden', `A running program may not ${what}`);
}
