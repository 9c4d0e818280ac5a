import type { FastifyRequest } from 'fastify';
import { HoldfastError } from '../contract/errors.ts';
import { isAtLeast, type Role } from '../contract/people.ts';
import type { AuditPrincipal } from './audit-log/audit-trail.ts';
import type { ApiKeyRecord } from '../store/queries/api-keys.ts';
import type { Scope } from '../store/scope.ts';

/** A caller with an API key. `scope` is the effective one: a subset of what the key reaches. */
export interface KeyCaller {
  kind: 'api_key';
  key: ApiKeyRecord;
  scope: Scope;
}

/** A person: in the console by a session of its own, or by a client that acts for them. */
export interface UserCaller {
  kind: 'user';
  user: ApiKeyRecord['createdBy'];
  role: Role;
  source: 'dashboard' | 'oauth';
  /** The session of the console; null for a client. `confirmedAt`: when the person last proved who they are. */
  session: { id: string; confirmedAt: Date | null } | null;
  /** The one project that the session or the client is for; null: organization-wide. */
  credentialProjectId: string | null;
  scope: Scope;
}

/** Who may use the API as a whole, within what scope and role allow: everybody but those with a token for one connection. */
export type PrincipalCaller = KeyCaller | UserCaller;

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

export type Caller = PrincipalCaller | HostedCaller | CodesCaller;

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; null only on routes with `access: 'public'` and on token-carrying browser URLs. */
    caller: Caller | null;
    /** Whom the audit row of a public route belongs to, once its handler knows it. */
    auditPrincipal: AuditPrincipal | null;
    /** The connection whose hosted page has asked, once its cookie is checked; the audit row belongs to its organization. */
    auditConnection: string | null;
  }
  interface FastifyInstance {
    /** Routes (`GET /path/:name`) whose answers may hold a secret. */
    secretRoutes: ReadonlySet<string>;
  }
  interface FastifyContextConfig {
    /**
     * Who may call the route. Default `api_key`: API keys, and people by their `role`.
     * `hosted`: also the token of the hosted page, for its own connection. `codes`: also a token for the codes of its connection.
     * `public`: everyone.
     * `browser_token`: requests whose `jwt` the browser service checks itself, else API keys.
     */
    access?: 'api_key' | 'hosted' | 'codes' | 'browser_token' | 'public';
    /** What a person's role must be at least. Default `viewer` for reads without a secret in their answer, `operator` for all else. */
    role?: Role;
    /** Shows or replaces a secret: a person must have proved lately who they are. */
    needsConfirmation?: boolean;
    /** The answer holds a secret, or does where the function says so of its body: it is sent only after its audit row is written. */
    returnsSecret?: boolean | ((body: unknown) => boolean);
    /** Leaves the route out of the audit log although it is not a read. */
    unaudited?: boolean;
  }
}

/** The caller of an authenticated route. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new HoldfastError('unauthorized', 'Send `Authorization: Bearer <API key>`');
  return request.caller;
}

/** The caller of a route that API keys and people may use. */
export function principalCallerOf(request: FastifyRequest): PrincipalCaller {
  const caller = callerOf(request);
  if (!isPrincipal(caller)) {
    throw new HoldfastError('forbidden', 'The token of the hosted page may not do this; use an API key');
  }
  return caller;
}

/** True for an API key or a person. */
export function isPrincipal(caller: Caller): caller is PrincipalCaller {
  return caller.kind === 'api_key' || caller.kind === 'user';
}

/** The id of the API key or of the person: what calls and streams are counted under. */
export function principalIdOf(caller: PrincipalCaller): string {
  return caller.kind === 'api_key' ? caller.key.id : caller.user.id;
}

/** Who is said to have made what a caller makes: the person, or who made the API key. */
export function creatorOf(caller: PrincipalCaller): ApiKeyRecord['createdBy'] {
  return caller.kind === 'api_key' ? caller.key.createdBy : caller.user;
}

/** The one project that a caller's credential is for; null: organization-wide. */
export function credentialProjectOf(caller: PrincipalCaller): string | null {
  return caller.kind === 'api_key' ? caller.key.projectId : caller.credentialProjectId;
}

/** True for who may see links and tokens by which more can be done than reading: all but people who may only read. */
export function canSeeAccessLinks(caller: Caller): boolean {
  return caller.kind === 'api_key' || (caller.kind === 'user' && isAtLeast(caller.role, 'operator'));
}

/** The caller of a route that credentials of one project may not use. Throws `forbidden`, with `refusal` for them. */
export function organizationWideCallerOf(request: FastifyRequest, refusal: string): PrincipalCaller {
  const caller = principalCallerOf(request);
  if (credentialProjectOf(caller) !== null) throw new HoldfastError('forbidden', refusal);
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
export function rejectPrograms(request: FastifyRequest, what: string): void {
  if (programOf(request) !== null) throw new HoldfastError('forbidden', `A running program may not ${what}`);
}
