import type { FastifyRequest } from 'fastify';
import { importJWK, jwtVerify } from 'jose';
import { z } from 'zod';
import type { UserCaller } from '../caller.ts';
import type { ApiDeps } from '../context.ts';
import { resolveScope } from '../scope.ts';
import { issuerOf, resourcesOf } from './addresses.ts';
import { GRANT_CLAIM } from './provider.ts';
import { SIGNING_ALG, type SigningKeys } from './signing-keys.ts';

const Claims = z.object({ [GRANT_CLAIM]: z.string(), sub: z.string(), scope: z.string().default('') });

/**
 * Resolves the caller of an access token; null if it is invalid or expired, or its grant has ended. The grant is read every time.
 * Programs never administer: they have at most the rights of an operator.
 */
export function createAccessTokens(
  deps: Pick<ApiDeps, 'store' | 'settings' | 'clock'>,
  keys: SigningKeys,
): (token: string, request: FastifyRequest) => Promise<UserCaller | null> {
  const { store, settings, clock } = deps;
  const issuer = issuerOf(settings.publicUrl);
  const audience = [...resourcesOf(issuer)];

  const claimsOf = async (token: string) => {
    try {
      const { payload } = await jwtVerify(
        token,
        async ({ kid = '' }) => {
          const key = await keys.find(kid);
          if (key === null) throw new Error('unknown key');
          const { d: _d, ...publicKey } = key;
          return importJWK(publicKey, SIGNING_ALG);
        },
        { issuer, audience, typ: 'at+jwt', algorithms: [SIGNING_ALG], currentDate: clock() },
      );
      return Claims.parse(payload);
    } catch {
      return null;
    }
  };

  return async (token, request) => {
    if (!isJwt(token)) return null;
    const claims = await claimsOf(token);
    const grant = claims === null ? null : await store.oauthGrants.find(claims[GRANT_CLAIM]);
    if (claims === null || grant === null || grant.user.id !== claims.sub) return null;
    await store.oauthGrants.recordUse(grant);
    const mayWrite = grant.access === 'all' && grant.role !== 'viewer' && claims.scope.split(' ').includes('write');
    return {
      kind: 'user',
      user: grant.user,
      role: mayWrite ? 'operator' : 'viewer',
      source: 'oauth',
      session: null,
      credentialProjectId: grant.projectId,
      scope: await resolveScope(deps, grant, request.headers),
    };
  };
}

function isJwt(token: string): boolean {
  return token.split('.').length === 3;
}
