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
 * Finds out for whom a program with an access token acts; null for what is no such token, or one that has expired or whose grant
 * has ended. The grant is read each time. A program never administers: it has the rights of an operator at most.
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
