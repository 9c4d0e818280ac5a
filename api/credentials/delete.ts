import { HoldfastError } from '../../contract/errors.ts';
import { IdOrNameParams, NoContent, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { findNear } from '../near-project.ts';
import type { ApiParts } from '../parts.ts';

/** `DELETE /credentials/{id or name}`: unlinks it from its connections first, so that a failure half-way can be tried again. */
export function registerDeleteCredential(app: ApiServer, { store, connections }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/credentials/:id_or_name',
    schema: {
      operationId: 'deleteCredential',
      tags: ['credentials'],
      params: IdOrNameParams,
      response: { 204: NoContent, ...refusals(401, 404) },
    },
    handler: async (request, reply) => {
      const { id_or_name: wanted } = request.params;
      const { scope } = keyCallerOf(request);
      const record = await findNear(store, scope, 'credential', (near) => store.credentials.find(near, wanted));
      const project = { organizationId: scope.organizationId, projectId: record.projectId };
      for (const { id } of await store.connections.usingCredential(project, record.name)) {
        await unlink(() => connections.configure(id, { credential: null }));
      }
      if (!(await store.credentials.remove(project, record.id))) {
        throw new HoldfastError('not_found', 'no such credential');
      }
      return reply.code(204).send();
    },
  });
}

/** A connection that is deleted at the same moment needs no unlinking. */
async function unlink(configure: () => Promise<unknown>): Promise<void> {
  try {
    await configure();
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'not_found') throw error;
  }
}
