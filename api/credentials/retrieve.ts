import { Credential } from '../../contract/credentials.ts';
import { IdOrNameParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { findNear } from '../near-project.ts';
import type { ApiParts } from '../parts.ts';
import { presentCredential } from './answer.ts';

/** `GET /credentials/{id or name}`: with the names of its values, without a value. */
export function registerRetrieveCredential(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/credentials/:id_or_name',
    schema: {
      operationId: 'retrieveCredential',
      tags: ['credentials'],
      params: IdOrNameParams,
      response: { 200: Credential, ...refusals(401, 404) },
    },
    handler: async (request) => {
      const { id_or_name: wanted } = request.params;
      const record = await findNear(store, keyCallerOf(request).scope, 'credential', (scope) =>
        store.credentials.find(scope, wanted),
      );
      return presentCredential(record, 'single');
    },
  });
}
