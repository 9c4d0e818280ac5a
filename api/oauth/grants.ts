import { z } from 'zod';
import { OAuthGrant } from '../../contract/oauth.ts';
import type { OAuthGrantRecord } from '../../store/queries/oauth-grants.ts';
import { IdParams, NoContent, errorResponses } from '../response-schemas.ts';
import { credentialProjectOf, principalCallerOf, type PrincipalCaller } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { requireFound } from '../nullish.ts';
import type { ApiParts } from '../parts.ts';

const tags = ['oauth'];

/** Grants of programs: people see and revoke their own; owners and API keys of the organization all of them. */
export function registerOAuthGrants(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/oauth/grants',
    schema: {
      operationId: 'listOAuthGrants',
      tags,
      response: { 200: z.array(OAuthGrant), ...errorResponses(401, 403) },
    },
    handler: async (request) => {
      const caller = principalCallerOf(request);
      return (await store.oauthGrants.list(caller.scope.organizationId, grantOwnerFilter(caller))).map(present);
    },
  });
  app.route({
    method: 'DELETE',
    url: '/oauth/grants/:id',
    config: { role: 'viewer' },
    schema: {
      operationId: 'revokeOAuthGrant',
      tags,
      params: IdParams,
      response: { 204: NoContent, ...errorResponses(401, 403, 404) },
    },
    handler: async (request, reply) => {
      const caller = principalCallerOf(request);
      const removed = await store.oauthGrants.remove(
        caller.scope.organizationId,
        grantOwnerFilter(caller),
        request.params.id,
      );
      requireFound(removed, 'Grant not found; list /oauth/grants for the ones there are');
      return reply.code(204).send();
    },
  });
}

/** The person whose grants the caller may see; null for everyone's. Throws `forbidden` for a project's key. */
function grantOwnerFilter(caller: PrincipalCaller): string | null {
  if (caller.kind === 'user') return caller.role === 'owner' ? null : caller.user.id;
  if (credentialProjectOf(caller) === null) return null;
  throw new HoldfastError('forbidden', 'This key is for one project; use an organization-wide key');
}

function present(grant: OAuthGrantRecord): z.infer<typeof OAuthGrant> {
  return {
    id: grant.id,
    client: { id: grant.clientId, name: grant.clientName },
    user: { id: grant.user.id, email: grant.user.email },
    access: grant.access,
    project_id: grant.projectId,
    created_at: grant.createdAt.toISOString(),
    last_used_at: grant.lastUsedAt?.toISOString() ?? null,
    expires_at: grant.expiresAt.toISOString(),
  };
}
