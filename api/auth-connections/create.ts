import { ConnectionCreate, ManagedAuth } from '../../contract/connections.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { writeScope } from '../scope.ts';
import { settingsOf } from './settings-rules.ts';

/** `POST /auth/connections`: a connection for a profile and a domain; a profile that is missing is made. */
export function registerCreateConnection(app: ApiServer, parts: ApiParts): void {
  const { store, connections, answers } = parts;
  app.route({
    method: 'POST',
    url: '/auth/connections',
    schema: {
      operationId: 'createAuthConnection',
      tags: ['auth connections'],
      body: ConnectionCreate,
      response: { 201: ManagedAuth, ...refusals(400, 401, 403, 409) },
    },
    handler: async (request, reply) => {
      const scope = await writeScope(store, keyCallerOf(request).scope);
      const settings = await settingsOf(parts, scope, request.body);
      // The usual second create needs no workflow to learn that it is the second.
      const existing = await store.connections.byProfileAndDomain(scope, settings.profile_name, settings.domain);
      if (existing !== null) throw alreadyExists(existing.id);
      await store.profiles.findOrCreate(scope, settings.profile_name);
      const created = await connections.create({ ...scope, settings });
      if (created.outcome === 'exists') throw alreadyExists(created.document.id);
      const document = await answers.settled({ revision: created.document.revision, document: created.document });
      return reply.code(201).send(answers.present(document, 'api_key'));
    },
  });
}

function alreadyExists(existingId: string): HoldfastError {
  const message = 'this profile already has a connection to this domain; use the one in existing_id';
  return new HoldfastError('already_exists', message, { existingId });
}
