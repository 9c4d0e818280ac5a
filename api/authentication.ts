import type { FastifyRequest } from 'fastify';
import { HoldfastError } from '../contract/errors.ts';
import type { Caller } from './caller.ts';
import type { ApiDeps } from './context.ts';
import type { CodeTokens } from './code-token.ts';
import type { HostedTokens } from './hosted-token.ts';
import { resolveScope } from './scope.ts';

/** Longest bearer token that is looked at. */
const MAX_TOKEN_LENGTH = 4096;

/**
 * Finds out who asks, before anything of the request is parsed. Throws `unauthorized` for a token that is missing,
 * wrong, expired or revoked, `gone` when the hosted page's flow was replaced by a newer one.
 */
export function createAuthentication(deps: Pick<ApiDeps, 'store'>, tokens: HostedTokens, codeTokens: CodeTokens) {
  async function hostedCaller(token: string): Promise<Caller | null> {
    const grant = await tokens.verify(token);
    if (grant === null) return null;
    const row = await deps.store.connections.byIdUnscoped(grant.connectionId);
    if (row === null)
      throw new HoldfastError('unauthorized', 'The connection of this token was deleted; ask for a new link');
    if (row.document.flow?.flow_id !== grant.flowId) {
      throw new HoldfastError('gone', 'A newer login has replaced the one of this token; open the newer link');
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
    return { kind: 'api_key', key, scope: await resolveScope(deps.store, key, request.headers) };
  }

  return async function authenticate(request: FastifyRequest): Promise<Caller> {
    const token = bearerTokenOf(request);
    const caller = (await hostedCaller(token)) ?? (await codesCaller(token)) ?? (await keyCaller(token, request));
    if (caller === null)
      throw new HoldfastError('unauthorized', 'The bearer token is wrong, expired or revoked; use another API key');
    return caller;
  };
}

function bearerTokenOf(request: FastifyRequest): string {
  const header = request.headers.authorization ?? '';
  const token = /^bearer +(.+)$/i.exec(header)?.[1]?.trim();
  // NUL never stands in a key of ours, and the database refuses it.
  if (token === undefined || token === '' || token.length > MAX_TOKEN_LENGTH || token.includes('\0')) {
    throw new HoldfastError('unauthorized', 'Send `Authorization: Bearer <API key>`');
  }
  return token;
}
