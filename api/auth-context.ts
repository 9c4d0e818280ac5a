import { z } from 'zod';
import { refusals } from './answer-schemas.ts';
import { keyCallerOf } from './caller.ts';
import type { ApiServer } from './context.ts';

const ScopeShape = z.strictObject({ project_id: z.string().nullable() });

/** Auth context of interface.md: who the caller is and how far this request reaches. */
const AuthContext = z.strictObject({
  authentication: z.strictObject({
    method: z.enum(['api_key', 'jwt']),
    source: z.enum(['api_key', 'oauth', 'dashboard']),
    credential_id: z.string().nullable(),
  }),
  principal: z.strictObject({ type: z.enum(['api_key', 'user']), id: z.string() }),
  organization: z.strictObject({ id: z.string() }),
  authorization: z.strictObject({ credential_scope: ScopeShape, effective_scope: ScopeShape }),
});

/** `GET /auth/context`. */
export function registerAuthContext(app: ApiServer): void {
  app.route({
    method: 'GET',
    url: '/auth/context',
    schema: {
      operationId: 'retrieveAuthContext',
      tags: ['service'],
      response: { 200: AuthContext, ...refusals(401, 403, 404) },
    },
    handler: (request) => {
      const { key, scope } = keyCallerOf(request);
      return {
        authentication: { method: 'api_key' as const, source: 'api_key' as const, credential_id: key.id },
        principal: { type: 'api_key' as const, id: key.id },
        organization: { id: scope.organizationId },
        authorization: {
          credential_scope: { project_id: key.projectId },
          effective_scope: { project_id: scope.projectId },
        },
      };
    },
  });
}
