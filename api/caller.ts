import type { FastifyRequest } from 'fastify';
import { HoldfastError } from '../contract/errors.ts';
import { isAtLeast, type Role } from '../contract/people.ts';
import type { AuditPrincipal } from './audit-log/audit-trail.ts';
import type { ApiKeyRecord } from '../store/queries/api-keys.ts';
import type { Scope } from '../store/scope.ts';

/** A caller with an API key. `scope` is the effective scope: a subset of the key's own. */
export interface KeyCaller {
  kind: 'api_key';
  key: ApiKeyRecord;
  scope: Scope;
}

/** A person, signed in to the console or represented by an OAuth client. */
export interface UserCaller {
  kind: 'user';
  user: ApiKeyRecord['createdBy'];
  role: Role;
  source: 'dashboard' | 'oauth';
  /** The console session; null for an OAuth client. `confirmedAt`: when the person last confirmed their identity. */
  session: { id: string; confirmedAt: Date | null } | null;
  /** The project that the session or client is limited to; null: organization-wide. */
  credentialProjectId: string | null;
  scope: Scope;
}

/** A caller of the whole API, within its scope and role, as opposed to one with a token for a single connection. */
export type PrincipalCaller = KeyCaller | UserCaller;

/** A person on the hosted page, limited to one flow of one connection. */
export interface HostedCaller {
  kind: 'hosted';
  connectionId: string;
  flowId: string;
  scope: Scope;
}

/** A program with a token that may only send codes to one connection. */
export interface CodesCaller {
  kind: 'codes';
  connectionId: string;
  scope: Scope;
}

export type Caller = PrincipalCaller | HostedCaller | CodesCaller;

declare module 'fastify' {
  interface FastifyRequest {
    /** Null only on routes with `access: 'public'` and on browser URLs with a token. */
    caller: Caller | null;
    /** Owner of the audit row of a public route, once its handler knows it. */
    auditPrincipal: AuditPrincipal | null;
    /** The connection of the hosted page, once its cookie is verified; the audit row belongs to its organization. */
    auditConnection: string | null;
  }
  interface FastifyInstance {
    /** Routes (`GET /path/:name`) whose responses may contain a secret. */
    secretRoutes: ReadonlySet<string>;
  }
  interface FastifyContextConfig {
    /**
     * Who may call the route. Default `api_key`: API keys, and people according to their `role`.
     * `hosted`: also hosted page tokens, for their connection. `codes`: also code tokens, for their connection.
     * `public`: everyone.
     * `browser_token`: requests with a `jwt`, which the browser service verifies itself; otherwise API keys.
     */
    access?: 'api_key' | 'hosted' | 'codes' | 'browser_token' | 'public';
    /** Minimum role of a person. Default `viewer` for reads that return no secret, `operator` otherwise. */
    role?: Role;
    /** Shows or replaces a secret: a person must have confirmed their identity recently. */
    needsConfirmation?: boolean;
    /** Whether the response contains a secret, or a function that tells from its body. Sent only after its audit row is written. */
    returnsSecret?: boolean | ((body: unknown) => boolean);
    /** Leaves the route out of the audit log. */
    unaudited?: boolean;
  }
}

/** The caller of an authenticated route. Throws `unauthorized`. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new HoldfastError('unauthorized', 'Send `Authorization: Bearer <API key>`');
  return request.caller;
}

/** The caller of a route for API keys and people. Throws `forbidden` for other tokens. */
export function principalCallerOf(request: FastifyRequest): PrincipalCaller {
  const caller = callerOf(request);
  if (!isPrincipal(caller)) {
    const token = caller.kind === 'hosted' ? 'hosted page token' : 'code token';
    throw new HoldfastError('forbidden', `A ${token} does not grant this; use an API key`);
  }
  return caller;
}

/** Whether the caller is an API key or a person. */
export function isPrincipal(caller: Caller): caller is PrincipalCaller {
  return caller.kind === 'api_key' || caller.kind === 'user';
}

/** Id of the API key or person, which calls and streams are counted under. */
export function principalIdOf(caller: PrincipalCaller): string {
  return caller.kind === 'api_key' ? caller.key.id : caller.user.id;
}

/** The creator recorded on what a caller creates: the person, or the creator of the API key. */
export function creatorOf(caller: PrincipalCaller): ApiKeyRecord['createdBy'] {
  return caller.kind === 'api_key' ? caller.key.createdBy : caller.user;
}

/** The project that a caller's credential is limited to; null: organization-wide. */
export function credentialProjectOf(caller: PrincipalCaller): string | null {
  return caller.kind === 'api_key' ? caller.key.projectId : caller.credentialProjectId;
}

/** Whether the caller may see links and tokens that grant more than reading: everyone but viewers. */
export function canSeeAccessLinks(caller: Caller): boolean {
  return caller.kind === 'api_key' || (caller.kind === 'user' && isAtLeast(caller.role, 'operator'));
}

/** The caller of a route for organization-wide credentials. Throws `forbidden` with `message` for a project's credential. */
export function organizationWideCallerOf(request: FastifyRequest, message: string): PrincipalCaller {
  const caller = principalCallerOf(request);
  if (credentialProjectOf(caller) !== null) throw new HoldfastError('forbidden', message);
  return caller;
}

/** A running program: its invocation, and the host it reached the API by. */
export interface ProgramCaller {
  invocationId: string;
  host: string;
}

/** The program that sent the request; null for other callers. */
export function programOf({ caller, host }: Pick<FastifyRequest, 'caller' | 'host'>): ProgramCaller | null {
  const invocationId = caller?.kind === 'api_key' ? caller.key.invocationId : null;
  return invocationId === null ? null : { invocationId, host };
}

/** Throws `forbidden` for a program: what it creates must not outlive its invocation. */
export function rejectPrograms(request: FastifyRequest, action: string): void {
  if (programOf(request) !== null) throw new HoldfastError('forbidden', `A running program may not ${action}`);
}
