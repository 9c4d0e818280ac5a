import { z } from 'zod';
import { credentialProjectOf, principalCallerOf, principalIdOf } from './caller.ts';
import type { ApiServer } from './context.ts';
import type { ApiParts } from './parts.ts';

const Answer = z.strictObject({
  status: z.enum(['ok', 'unavailable']),
  parts: z.record(z.string(), z.strictObject({ ready: z.boolean(), message: z.string().optional() })),
});

/** `GET /health`, without a key: 200 if every component is ready, otherwise 503 naming those that are not. */
export function registerHealth(app: ApiServer, { health }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/health',
    config: { access: 'public' },
    schema: { operationId: 'health', tags: ['service'], security: [], response: { 200: Answer, 503: Answer } },
    handler: async (_request, reply) => {
      const parts = await health();
      const isReady = Object.values(parts).every(({ ready }) => ready);
      return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'unavailable', parts });
    },
  });
}

const ScopeShape = z.strictObject({ project_id: z.string().nullable() });

/** Who the caller is, and the scope of its credential and of this request (interface.md, "Auth context"). */
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
    schema: { operationId: 'retrieveAuthContext', tags: ['service'], response: { 200: AuthContext } },
    handler: (request) => {
      const caller = principalCallerOf(request);
      const id = principalIdOf(caller);
      return {
        authentication:
          caller.kind === 'api_key'
            ? { method: 'api_key' as const, source: 'api_key' as const, credential_id: id }
            : { method: 'jwt' as const, source: caller.source, credential_id: null },
        principal: { type: caller.kind, id },
        organization: { id: caller.scope.organizationId },
        authorization: {
          credential_scope: { project_id: credentialProjectOf(caller) },
          effective_scope: { project_id: caller.scope.projectId },
        },
      };
    },
  });
}
