import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { presentProfile, Profile, ProfileCreate, ProfileUpdate } from '../../contract/profiles.ts';
import type { ProfileRecord } from '../../store/queries/profiles.ts';
import type { ProjectScope } from '../../store/scope.ts';
import { IdOrNameParams, NoContent, errorResponses } from '../response-schemas.ts';
import { principalCallerOf, type PrincipalCaller } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { requireFound } from '../nullish.ts';
import { pageOf, pageQuery, sendPageHeaders, queryFilter } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { findByIdOrName, writeScope } from '../scope.ts';

const tags = ['profiles'];
const NOT_FOUND = 'Profile not found; check its id or name, and the project';
const Query = z.object({
  name: z.string().max(255).optional().describe('The whole name'),
  query: queryFilter().describe('Part of the name, in any case'),
  ...pageQuery,
});

/** Registers profiles, which name the stored state of a browser. */
export function registerProfiles(app: ApiServer, parts: ApiParts): void {
  createProfile(app, parts);
  listProfiles(app, parts);
  retrieveProfile(app, parts);
  updateProfile(app, parts);
  deleteProfile(app, parts);
}

/** `POST /profiles`: a name is optional, and unique within its project. */
function createProfile(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/profiles',
    schema: {
      operationId: 'createProfile',
      tags,
      body: ProfileCreate,
      response: { 201: Profile, ...errorResponses(409) },
    },
    handler: async (request, reply) => {
      const scope = await writeScope(store, principalCallerOf(request).scope);
      const record = await store.profiles.create(scope, omitUndefined({ name: request.body?.name }));
      return reply.code(201).send(presentProfile(record));
    },
  });
}

/** `GET /profiles`: newest first, a bare array with paging headers. */
function listProfiles(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/profiles',
    schema: { operationId: 'listProfiles', tags, querystring: Query, response: { 200: z.array(Profile) } },
    handler: async (request, reply) => {
      const { scope } = principalCallerOf(request);
      const { name, query } = request.query;
      const paging = pageOf(request.query);
      if (name !== undefined && name !== '') {
        const named = await store.profiles.find(scope, name);
        const rows = named?.name === name ? [named].slice(paging.offset) : [];
        sendPageHeaders(reply, paging, { rows, hasMore: false });
        return rows.map(presentProfile);
      }
      const filter = omitUndefined({ query });
      const page = await store.profiles.list(scope, { ...paging, ...filter });
      return sendPageHeaders(reply, paging, page).map(presentProfile);
    },
  });
}

/** `GET /profiles/{id or name}`. */
function retrieveProfile(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/profiles/:id_or_name',
    schema: { operationId: 'retrieveProfile', tags, params: IdOrNameParams, response: { 200: Profile } },
    handler: async (request) => {
      const { record } = await findProfile(store, principalCallerOf(request), request.params.id_or_name);
      return presentProfile(record);
    },
  });
}

/** `PATCH /profiles/{id or name}`: renames it; 422 while a connection uses the profile. */
function updateProfile(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/profiles/:id_or_name',
    schema: {
      operationId: 'updateProfile',
      tags,
      params: IdOrNameParams,
      body: ProfileUpdate,
      response: { 200: Profile, ...errorResponses(409, 422) },
    },
    handler: async (request) => {
      const { record, project } = await findProfile(store, principalCallerOf(request), request.params.id_or_name);
      if (record.name === request.body.name) return presentProfile(record);
      await rejectInUse(store, project, record);
      const renamed = requireFound(await store.profiles.rename(project, record.id, request.body.name), NOT_FOUND);
      return presentProfile(renamed);
    },
  });
}

/** `DELETE /profiles/{id or name}`: 422 while a connection uses the profile. */
function deleteProfile(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/profiles/:id_or_name',
    schema: {
      operationId: 'deleteProfile',
      tags,
      params: IdOrNameParams,
      response: { 204: NoContent, ...errorResponses(422) },
    },
    handler: async (request, reply) => {
      const { record, project } = await findProfile(store, principalCallerOf(request), request.params.id_or_name);
      await rejectInUse(store, project, record);
      requireFound(await store.profiles.remove(project, record.id), NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

/** The profile that a path names, and its project. Throws `not_found`. */
export function findProfile(store: ApiParts['store'], { scope }: PrincipalCaller, idOrName: string) {
  return findByIdOrName(store, scope, (within) => store.profiles.find(within, idOrName), NOT_FOUND);
}

/**
 * Throws if a connection uses the profile: the connection refers to it by name and would create an empty profile in its place.
 * 422 rather than 409, which clients would retry.
 */
async function rejectInUse(
  { connections }: ApiParts['store'],
  project: ProjectScope,
  { name }: ProfileRecord,
): Promise<void> {
  if (name === null) return;
  const page = await connections.list(project, { limit: 1, offset: 0, profileName: name });
  const [user] = page.rows;
  if (user === undefined) return;
  throw new HoldfastError('operation_failed', `Connection ${user.id} uses this profile; delete the connection first`);
}
