import { Credential, CredentialCreate } from '../../contract/credentials.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { defined } from '../defined.ts';
import type { ApiParts } from '../parts.ts';
import { writeScope } from '../scope.ts';
import { presentCredential } from './answer.ts';

/** `POST /credentials`: seals the values; no answer ever shows one. */
export function registerCreateCredential(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/credentials',
    schema: {
      operationId: 'createCredential',
      tags: ['credentials'],
      body: CredentialCreate,
      response: { 201: Credential, ...refusals(400, 401, 409) },
    },
    handler: async (request, reply) => {
      const { name, domain, values, totp_secret: totpSecret, sso_provider: ssoProvider } = request.body;
      const scope = await writeScope(store, keyCallerOf(request).scope);
      const record = await store.credentials.create(scope, {
        name,
        domain,
        values,
        ...defined({ totpSecret, ssoProvider }),
      });
      return reply.code(201).send(presentCredential(record, 'single'));
    },
  });
}
