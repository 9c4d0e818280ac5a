import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  CredentialProvider,
  CredentialProviderCreate,
  CredentialProviderItems,
  CredentialProviderTest,
  CredentialProviderUpdate,
} from '../../contract/credential-providers.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { SecretStoreError } from '../../credential-providers/secret-store.ts';
import type { CredentialProviderRecord } from '../../store/queries/credential-providers.ts';
import { IdParams, NoContent, errorResponses } from '../response-schemas.ts';
import { checkServerUrl } from '../address-rules.ts';
import { principalCallerOf, organizationWideCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { requireFound } from '../nullish.ts';
import { pageOf, pageQuery, sendPageHeaders, queryFilter } from '../paging.ts';
import type { ApiParts } from '../parts.ts';

const tags = ['credential providers'];
const NOT_FOUND = 'Credential provider not found; check its id';
const PATH = '/org/credential_providers';

/** Registers external secret stores of an organization. Tokens are sealed, and no response ever contains one. */
export function registerCredentialProviders(app: ApiServer, parts: ApiParts): void {
  createProvider(app, parts);
  listProviders(app, parts);
  retrieveProvider(app, parts);
  updateProvider(app, parts);
  deleteProvider(app, parts);
  testProvider(app, parts);
  listItems(app, parts);
}

/** `POST /org/credential_providers`: does not verify the token; `…/test` does. */
function createProvider(app: ApiServer, { store, addressPolicy }: ApiParts): void {
  app.route({
    method: 'POST',
    url: PATH,
    config: { needsConfirmation: true },
    schema: {
      operationId: 'createCredentialProvider',
      tags,
      body: CredentialProviderCreate,
      response: { 201: CredentialProvider, ...errorResponses(409) },
    },
    handler: async (request, reply) => {
      const organizationId = organizationOf(request);
      const { name, provider_type: type, token, cache_ttl_seconds: cacheTtlSeconds, ...place } = request.body;
      const { address = null, mount = null, namespace = null, region = null } = place;
      if (address !== null) checkServerUrl(addressPolicy, 'address', address);
      const settings = { name, type, token, cacheTtlSeconds, address, mount, namespace, region };
      return reply.code(201).send(present(await store.credentialProviders.create(organizationId, settings)));
    },
  });
}

const Query = z.object({
  query: queryFilter(260).describe('Part of the name, in any case, or the whole id'),
  ...pageQuery,
});

/** `GET /org/credential_providers`: by priority, a bare array with paging headers. */
function listProviders(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: PATH,
    schema: {
      operationId: 'listCredentialProviders',
      tags,
      querystring: Query,
      response: { 200: z.array(CredentialProvider) },
    },
    handler: async (request, reply) => {
      const { query } = request.query;
      const paging = pageOf(request.query);
      const filter = omitUndefined({ query });
      const { organizationId } = principalCallerOf(request).scope;
      const page = await store.credentialProviders.list(organizationId, { ...paging, ...filter });
      return sendPageHeaders(reply, paging, page).map(present);
    },
  });
}

/** `GET /org/credential_providers/{id}`. */
function retrieveProvider(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: `${PATH}/:id`,
    schema: {
      operationId: 'retrieveCredentialProvider',
      tags,
      params: IdParams,
      response: { 200: CredentialProvider },
    },
    handler: async (request) => {
      const { organizationId } = principalCallerOf(request).scope;
      const record = requireFound(await store.credentialProviders.find(organizationId, request.params.id), NOT_FOUND);
      return present(record);
    },
  });
}

/** `PATCH /org/credential_providers/{id}`: a new name is applied to the connections that use it, which refer to it by name. */
function updateProvider(app: ApiServer, { store, connections, addressPolicy }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: `${PATH}/:id`,
    config: { needsConfirmation: true },
    schema: {
      operationId: 'updateCredentialProvider',
      tags,
      params: IdParams,
      body: CredentialProviderUpdate,
      response: { 200: CredentialProvider, ...errorResponses(409) },
    },
    handler: async (request) => {
      const organizationId = organizationOf(request);
      const { id } = request.params;
      const { cache_ttl_seconds: cacheTtlSeconds, ...patch } = request.body;
      if (typeof patch.address === 'string') checkServerUrl(addressPolicy, 'address', patch.address);
      const current = requireFound(await store.credentialProviders.find(organizationId, id), NOT_FOUND);
      const changed = requireFound(
        await store.credentialProviders.patch(organizationId, id, omitUndefined({ cacheTtlSeconds, ...patch })),
        NOT_FOUND,
      );
      if (changed.name !== current.name) {
        for (const user of await store.connections.usingProvider(organizationId, current.name)) {
          const credential = { ...user.document.settings.credential, provider: changed.name };
          await connections.configure(user.id, { credential });
        }
      }
      return present(changed);
    },
  });
}

/**
 * `DELETE /org/credential_providers/{id}`: destroys the token. Connections keep the reference, so that their logins fail with a
 * reason instead of asking a person.
 */
function deleteProvider(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: `${PATH}/:id`,
    schema: { operationId: 'deleteCredentialProvider', tags, params: IdParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      const removed = await store.credentialProviders.remove(organizationOf(request), request.params.id);
      requireFound(removed, NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

/** `POST /org/credential_providers/{id}/test`: verifies the token; a failure is a result, not an error. */
function testProvider(app: ApiServer, { store, externalCredentials }: ApiParts): void {
  app.route({
    method: 'POST',
    url: `${PATH}/:id/test`,
    schema: {
      operationId: 'testCredentialProvider',
      tags,
      params: IdParams,
      response: { 200: CredentialProviderTest },
    },
    handler: async (request) => {
      const organizationId = organizationOf(request);
      requireFound(await store.credentialProviders.find(organizationId, request.params.id), NOT_FOUND);
      return await externalCredentials.test(organizationId, request.params.id);
    },
  });
}

/** `GET /org/credential_providers/{id}/items`: the items that connections can use, without values. */
function listItems(app: ApiServer, { store, externalCredentials }: ApiParts): void {
  app.route({
    method: 'GET',
    url: `${PATH}/:id/items`,
    schema: {
      operationId: 'listCredentialProviderItems',
      tags,
      params: IdParams,
      response: { 200: CredentialProviderItems, ...errorResponses(422) },
    },
    handler: async (request) => {
      const organizationId = organizationOf(request);
      requireFound(await store.credentialProviders.find(organizationId, request.params.id), NOT_FOUND);
      try {
        return { items: await externalCredentials.items(organizationId, request.params.id) };
      } catch (error) {
        if (!(error instanceof SecretStoreError)) throw error;
        throw new HoldfastError('operation_failed', error.message);
      }
    },
  });
}

function organizationOf(request: FastifyRequest): string {
  const message = 'Credential providers belong to the organization; use an organization-wide key';
  return organizationWideCallerOf(request, message).scope.organizationId;
}

/** The public representation: never the token. */
function present(record: CredentialProviderRecord): CredentialProvider {
  const { address, mount, namespace, region } = record;
  const place = Object.entries({ address, mount, namespace, region }).filter(([, value]) => value !== null);
  return {
    id: record.id,
    name: record.name,
    provider_type: record.type,
    enabled: record.enabled,
    priority: record.priority,
    cache_ttl_seconds: record.cacheTtlSeconds,
    ...Object.fromEntries(place),
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
  };
}
