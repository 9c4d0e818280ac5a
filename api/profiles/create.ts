import { presentProfile, Profile, ProfileCreate } from '../../contract/profiles.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { defined } from '../defined.ts';
import type { ApiParts } from '../parts.ts';
import { writeScope } from '../scope.ts';

/** `POST /profiles`. A name is optional, and unique in its project. */
export function registerCreateProfile(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/profiles',
    schema: {
      operationId: 'createProfile',
      tags: ['profiles'],
      body: ProfileCreate,
      response: { 201: Profile, ...refusals(400, 401, 409) },
    },
    handler: async (request, reply) => {
      const scope = await writeScope(store, keyCallerOf(request).scope);
      const record = await store.profiles.create(scope, defined({ name: request.body?.name }));
      return reply.code(201).send(presentProfile(record));
    },
  });
}
