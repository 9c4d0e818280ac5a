import { presentProfile, Profile } from '../../contract/profiles.ts';
import { IdOrNameParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { findNear } from '../near-project.ts';
import type { ApiParts } from '../parts.ts';

/** `GET /profiles/{id or name}`. */
export function registerRetrieveProfile(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/profiles/:id_or_name',
    schema: {
      operationId: 'retrieveProfile',
      tags: ['profiles'],
      params: IdOrNameParams,
      response: { 200: Profile, ...refusals(401, 404) },
    },
    handler: async (request) => {
      const { id_or_name: wanted } = request.params;
      const record = await findNear(store, keyCallerOf(request).scope, 'profile', (scope) =>
        store.profiles.find(scope, wanted),
      );
      return presentProfile(record);
    },
  });
}
