import { HoldfastError } from '../../contract/errors.ts';
import { presentProfile, Profile, ProfileUpdate } from '../../contract/profiles.ts';
import { IdOrNameParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { findNear } from '../near-project.ts';
import type { ApiParts } from '../parts.ts';
import { refuseInUse } from './in-use.ts';

/** `PATCH /profiles/{id or name}`: a new name. 422 while a connection uses the profile. */
export function registerUpdateProfile(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/profiles/:id_or_name',
    schema: {
      operationId: 'updateProfile',
      tags: ['profiles'],
      params: IdOrNameParams,
      body: ProfileUpdate,
      response: { 200: Profile, ...refusals(400, 401, 404, 409, 422) },
    },
    handler: async (request) => {
      const { id_or_name: wanted } = request.params;
      const { scope } = keyCallerOf(request);
      const record = await findNear(store, scope, 'profile', (near) => store.profiles.find(near, wanted));
      if (record.name === request.body.name) return presentProfile(record);
      await refuseInUse(store, scope.organizationId, record);
      const project = { organizationId: scope.organizationId, projectId: record.projectId };
      const renamed = await store.profiles.rename(project, record.id, request.body.name);
      if (renamed === null) throw new HoldfastError('not_found', 'no such profile');
      return presentProfile(renamed);
    },
  });
}
