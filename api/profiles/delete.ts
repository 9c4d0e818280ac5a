import { HoldfastError } from '../../contract/errors.ts';
import { IdOrNameParams, NoContent, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { findNear } from '../near-project.ts';
import type { ApiParts } from '../parts.ts';
import { refuseInUse } from './in-use.ts';

/** `DELETE /profiles/{id or name}`. 422 while a connection uses the profile. */
export function registerDeleteProfile(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/profiles/:id_or_name',
    schema: {
      operationId: 'deleteProfile',
      tags: ['profiles'],
      params: IdOrNameParams,
      response: { 204: NoContent, ...refusals(401, 404, 422) },
    },
    handler: async (request, reply) => {
      const { id_or_name: wanted } = request.params;
      const { scope } = keyCallerOf(request);
      const record = await findNear(store, scope, 'profile', (near) => store.profiles.find(near, wanted));
      await refuseInUse(store, scope.organizationId, record);
      const project = { organizationId: scope.organizationId, projectId: record.projectId };
      if (!(await store.profiles.remove(project, record.id))) throw new HoldfastError('not_found', 'no such profile');
      return reply.code(204).send();
    },
  });
}
