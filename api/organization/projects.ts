import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { Project, ProjectCreate, ProjectUpdate } from '../../contract/projects.ts';
import type { ProjectRecord } from '../../store/queries/projects.ts';
import { IdOrNameParams, NoContent, errorResponses } from '../response-schemas.ts';
import { principalCallerOf, organizationWideCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { requireProjects } from './entitlements.ts';
import { requireFound } from '../nullish.ts';
import { pageOf, pageQuery, sendPageHeaders, queryFilter } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { findProject, PROJECT_NOT_FOUND } from '../scope.ts';

const tags = ['projects'];
/** Older clients use the second path. */
const PATHS = [
  { prefix: '/org/projects', hide: false },
  { prefix: '/projects', hide: true },
];

/** Registers projects, which isolate resources within an organization. */
export function registerProjects(service: ApiServer, parts: ApiParts): void {
  for (const { prefix, hide } of PATHS) {
    const plugin = (app: ApiServer, _options: object, done: () => void) => {
      app.addHook('preHandler', (request) => requireProjects(parts, organizationOf(request)));
      app.addHook('onRoute', (route) => {
        route.schema = { ...route.schema, hide };
      });
      listProjects(app, parts);
      createProject(app, parts);
      retrieveProject(app, parts);
      updateProject(app, parts);
      deleteProject(app, parts);
      done();
    };
    void service.register(plugin, { prefix });
  }
}

const Query = z.object({
  name: z.string().max(255).optional().describe('The whole name'),
  query: queryFilter().describe('Part of the name, in any case'),
  ...pageQuery,
});

/** `GET /org/projects`: the projects in the credential's scope. */
function listProjects(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '',
    schema: { operationId: 'listProjects', tags, querystring: Query, response: { 200: z.array(Project) } },
    handler: async (request, reply) => {
      const { scope } = principalCallerOf(request);
      const { name, query = '' } = request.query;
      const paging = pageOf(request.query);
      const matching = (await store.projects.list(scope.organizationId)).filter(
        (project) =>
          (scope.projectId === null || project.id === scope.projectId) &&
          (name === undefined || project.name === name) &&
          project.name.toLowerCase().includes(query.toLowerCase()),
      );
      const rows = matching.slice(paging.offset, paging.offset + paging.limit);
      sendPageHeaders(reply, paging, { rows, hasMore: paging.offset + rows.length < matching.length });
      return rows.map(presentProject);
    },
  });
}

/** `POST /org/projects`: for organization-wide credentials. */
function createProject(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '',
    schema: {
      operationId: 'createProject',
      tags,
      body: ProjectCreate,
      response: { 201: Project, ...errorResponses(409) },
    },
    handler: async (request, reply) => {
      const { scope } = principalCallerOf(request);
      if (scope.projectId !== null)
        throw new HoldfastError(
          'forbidden',
          'Projects belong to the organization; use an organization-wide key, without X-Kernel-Project',
        );
      const project = await store.projects.create(scope.organizationId, { name: request.body.name });
      return reply.code(201).send(presentProject(project));
    },
  });
}

/** `GET /org/projects/{id or name}`. */
function retrieveProject(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/:id_or_name',
    schema: { operationId: 'retrieveProject', tags, params: IdOrNameParams, response: { 200: Project } },
    handler: async (request) =>
      presentProject(await findProject(store, principalCallerOf(request).scope, request.params.id_or_name, true)),
  });
}

/** `PATCH /org/projects/{id or name}`: changes name or status, for organization-wide credentials. */
function updateProject(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/:id_or_name',
    schema: {
      operationId: 'updateProject',
      tags,
      params: IdOrNameParams,
      body: ProjectUpdate,
      response: { 200: Project, ...errorResponses(409, 422) },
    },
    handler: async (request) => {
      const { id } = await findForChange(store, request, request.params.id_or_name);
      const { name, status } = request.body;
      const change = omitUndefined({ name, isArchived: status === undefined ? undefined : status === 'archived' });
      return presentProject(
        requireFound(await store.projects.update(organizationOf(request), id, change), PROJECT_NOT_FOUND),
      );
    },
  });
}

/** `DELETE /org/projects/{id or name}`: deletes an empty project and its keys, for organization-wide credentials. */
function deleteProject(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/:id_or_name',
    schema: {
      operationId: 'deleteProject',
      tags,
      params: IdOrNameParams,
      response: { 204: NoContent, ...errorResponses(422) },
    },
    handler: async (request, reply) => {
      const { id } = await findForChange(store, request, request.params.id_or_name);
      requireFound(await store.projects.remove(organizationOf(request), id), PROJECT_NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

const organizationOf = (request: FastifyRequest): string => principalCallerOf(request).scope.organizationId;

/** The project that a request changes. Throws `forbidden` for a project's key. */
async function findForChange(
  store: ApiParts['store'],
  request: FastifyRequest,
  wanted: string,
): Promise<ProjectRecord> {
  const { scope } = organizationWideCallerOf(request, 'This key is for one project; use an organization-wide key');
  return findProject(store, scope, wanted, true);
}

function presentProject({ id, name, archivedAt, createdAt, updatedAt }: ProjectRecord): Project {
  return {
    id,
    name,
    status: archivedAt === null ? 'active' : 'archived',
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}
