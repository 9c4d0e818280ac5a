import { Credential, CredentialUpdate } from '../../contract/credentials.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { IdOrNameParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { defined } from '../defined.ts';
import { findNear } from '../near-project.ts';
import type { ApiParts } from '../parts.ts';
import { presentCredential } from './answer.ts';

/**
 * `PATCH /credentials/{id or name}`: `remove_value_keys` first, then `values` merged. Connections refer to a credential by
 * name, so a new name is carried to those that use it.
 */
export function registerUpdateCredential(app: ApiServer, { store, connections }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/credentials/:id_or_name',
    schema: {
      operationId: 'updateCredential',
      tags: ['credentials'],
      params: IdOrNameParams,
      body: CredentialUpdate,
      response: { 200: Credential, ...refusals(400, 401, 404, 409) },
    },
    handler: async (request) => {
      const { id_or_name: wanted } = request.params;
      const { scope } = keyCallerOf(request);
      const current = await findNear(store, scope, 'credential', (near) => store.credentials.find(near, wanted));
      const { name, values, remove_value_keys: removeValueKeys, totp_secret: totpSecret } = request.body;
      const ssoProvider = request.body.sso_provider === '' ? null : request.body.sso_provider;
      const project = { organizationId: scope.organizationId, projectId: current.projectId };
      const changed = await store.credentials.patch(
        project,
        current.id,
        defined({ name, values, removeValueKeys, totpSecret, ssoProvider }),
      );
      if (changed === null) throw new HoldfastError('not_found', 'no such credential');
      if (changed.name !== current.name) {
        for (const { id } of await store.connections.usingCredential(project, current.name)) {
          await connections.configure(id, { credential: { name: changed.name } });
        }
      }
      return presentCredential(changed, 'single');
    },
  });
}
