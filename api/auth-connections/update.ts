import { ConnectionUpdate, ManagedAuth } from '../../contract/connections.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { changesOf } from './settings-rules.ts';

/** `PATCH /auth/connections/{id}`: changed settings take effect at once, a running flow goes on with its own. */
export function registerUpdateConnection(app: ApiServer, parts: ApiParts): void {
  const { connections, answers } = parts;
  app.route({
    method: 'PATCH',
    url: '/auth/connections/:id',
    schema: {
      operationId: 'updateAuthConnection',
      tags: ['auth connections'],
      params: IdParams,
      body: ConnectionUpdate,
      response: { 200: ManagedAuth, ...refusals(400, 401, 404) },
    },
    handler: async (request) => {
      const row = await answers.find(keyCallerOf(request), request.params.id);
      const scope = { organizationId: row.organizationId, projectId: row.projectId };
      const changes = await changesOf(parts, scope, row.document.settings, request.body);
      if (Object.keys(changes).length === 0) return answers.present(row.document, 'api_key');
      return answers.present(await answers.settled(await connections.configure(row.id, changes)), 'api_key');
    },
  });
}
