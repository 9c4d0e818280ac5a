import { z } from 'zod';
import type { ApiServer } from './context.ts';
import type { ApiParts } from './parts.ts';

const Answer = z.strictObject({
  status: z.enum(['ok', 'unavailable']),
  parts: z.record(z.string(), z.strictObject({ ready: z.boolean(), message: z.string().optional() })),
});

/** `GET /health`, without a key: 200 when every part is ready, else 503 naming the one that is not. */
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
