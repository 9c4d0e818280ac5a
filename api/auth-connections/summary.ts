import { z } from 'zod';
import { ConnectionSummary } from '../../contract/connection-summary.ts';
import { principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';

const HOUR_MS = 3_600_000;
const Query = z.object({
  hours: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(168))
    .optional()
    .describe('How far back activity and durations go; 24 when not given'),
});

/** `GET /auth/connections/summary`: how the caller's connections are, in figures. */
export function registerConnectionSummary(app: ApiServer, { store, clock }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections/summary',
    schema: {
      operationId: 'summarizeAuthConnections',
      tags: ['auth connections'],
      querystring: Query,
      response: { 200: ConnectionSummary },
    },
    handler: (request) => {
      const { hours = 24 } = request.query;
      const since = new Date(clock().getTime() - hours * HOUR_MS);
      return store.connectionSummary.read(principalCallerOf(request).scope, since);
    },
  });
}
