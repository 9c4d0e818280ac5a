import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { HoldfastError } from '../contract/errors.ts';
import type { UserSessionRecord } from '../store/queries/user-sessions.ts';
import type { Caller, UserCaller } from './caller.ts';
import type { ApiDeps } from './context.ts';
import type { CodeTokens } from './auth-connections/tokens.ts';
import type { HostedTokens } from './auth-connections/tokens.ts';
import { consoleTokenOf } from './people/console-cookie.ts';
import { isFromConsole } from './cross-origin.ts';
import { resolveScope } from './scope.ts';

/** Maximum length of a bearer token. */
const MAX_TOKEN_LENGTH = 4096;

/** Resolves one kind of bearer token to its caller; null for other kinds. */
type Authenticator = (token: string, request: FastifyRequest) => Promise<Caller | null>;

/**
 * Authenticates a request before it is parsed. Throws `unauthorized` for a missing, unknown, expired or revoked token, and
 * `gone` if a newer login has replaced the hosted page's flow.
 */
export function createAuthentication(
  deps: Pick<ApiDeps, 'store' | 'settings'>,
  tokens: HostedTokens,
  codeTokens: CodeTokens,
  accessTokenCaller: Authenticator,
) {
  async function hostedCaller(token: string): Promise<Caller | null> {
    const grant = await tokens.verify(token);
    if (grant === null) return null;
    const row = await deps.store.connections.byIdUnscoped(grant.connectionId);
    if (row === null)
      throw new HoldfastError('unauthorized', 'The connection of this token was deleted; ask for a new link');
    if (row.document.flow?.flow_id !== grant.flowId) {
      throw new HoldfastError('gone', 'A newer login has replaced the login of this token; open the newer link');
    }
    const scope = { organizationId: row.organizationId, projectId: row.projectId };
    return { kind: 'hosted', connectionId: grant.connectionId, flowId: grant.flowId, scope };
  }

  async function codesCaller(token: string): Promise<Caller | null> {
    const connectionId = await codeTokens.verify(token);
    const row = connectionId === null ? null : await deps.store.connections.byIdUnscoped(connectionId);
    if (row === null) return null;
    const scope = { organizationId: row.organizationId, projectId: row.projectId };
    return { kind: 'codes', connectionId: row.id, scope };
  }

  async function keyCaller(token: string, request: FastifyRequest): Promise<Caller | null> {
    const key = await deps.store.apiKeys.authenticate(token);
    if (key === null) return null;
    return { kind: 'api_key', key, scope: await resolveScope(deps, key, request.headers) };
  }

  /** A person in the console. The cookie counts only in requests that no other site can have sent. */
  async function consoleCaller(request: FastifyRequest): Promise<Caller | null> {
    const { publicUrl } = deps.settings;
    const token = consoleTokenOf(request, publicUrl);
    if (token === null || !isFromConsole(request, publicUrl)) return null;
    const session = await deps.store.userSessions.authenticate(token);
    return session === null ? null : callerOfSession(deps, session, request.headers);
  }

  const authenticators: readonly Authenticator[] = [hostedCaller, codesCaller, accessTokenCaller, keyCaller];

  return async function authenticate(request: FastifyRequest): Promise<Caller> {
    if (request.headers.authorization === undefined) {
      const person = await consoleCaller(request);
      if (person !== null) return person;
    }
    const token = bearerTokenOf(request);
    for (const authenticator of authenticators) {
      const caller = await authenticator(token, request);
      if (caller !== null) return caller;
    }
    throw new HoldfastError('unauthorized', 'The bearer token is invalid, expired or revoked; use another API key');
  };
}

/** The person of a console session, in the project selected by the headers. Throws what {@link resolveScope} throws. */
export async function callerOfSession(
  deps: Pick<ApiDeps, 'store' | 'settings'>,
  session: UserSessionRecord,
  headers: IncomingHttpHeaders,
): Promise<UserCaller> {
  const { id, user, role, organizationId, confirmedAt } = session;
  const reach = { organizationId, projectId: null, projectArchivedAt: null };
  return {
    kind: 'user',
    user,
    role,
    source: 'dashboard',
    session: { id, confirmedAt },
    credentialProjectId: null,
    scope: await resolveScope(deps, reach, headers),
  };
}

function bearerTokenOf(request: FastifyRequest): string {
  const header = request.headers.authorization ?? '';
  const token = /^bearer +(.+)$/i.exec(header)?.[1]?.trim();
  // The database rejects NUL, and no key contains it.
  if (token === undefined || token === '' || token.length > MAX_TOKEN_LENGTH || token.includes('\0')) {
    throw new HoldfastError('unauthorized', 'Send `Authorization: Bearer <API key>`');
  }
  return token;
}
