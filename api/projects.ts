import { z } from 'zod';
import { HoldfastError, invalidField } from '../contract/errors.ts';
import { Project, ProjectCreate, ProjectUpdate } from '../contract/projects.ts';
import type { ProjectRecord } from '../store/queries/organizations.ts';
import { IdOrNameParams, refusals } from './answer-schemas.ts';
import { keyCallerOf } from './caller.ts';
import type { ApiServer } from './context.ts';
import { pageOf, pageQuery, sendPageHeaders } from './pages.ts';
import type { ApiParts } from './parts.ts';
import { findProject } from './scope.ts';

const tags = ['projects'];
const NOT_ARCHIVED = 'does not archive or delete projects; delete what is in them, and their keys';
/** Where the operations are. Older clients know the second path. */
const PATHS = [
  { url: '/org/projects', hide: false },
  { url: '/projects', hide: true },
] as const;
type Path = (typeof PATHS)[number];

/** Projects: isolation of resources inside an organization. `/projects` is the older path of the same. */
export function registerProjects(app: ApiServer, parts: ApiParts): void {
  for (const path of PATHS) {
    listProjects(app, parts, path);
    createProject(app, parts, path);
    retrieveProject(app, parts, path);
    updateProject(app, parts, path);
    deleteProject(app, path);
  }
}

const Query = z.object({
  name: z.string().max(255).optional().describe('The whole name'),
  query: z.string().max(255).optional().describe('Part of the name, in any case'),
  ...pageQuery,
});

/** `GET /org/projects`: those that the credential reaches. */
function listProjects(app: ApiServer, { store }: ApiParts, path: Path): void {
  app.route({
    method: 'GET',
    url: path.url,
    schema: {
      operationId: 'listProjects',
      tags,
      hide: path.hide,
      querystring: Query,
      response: { 200: z.array(Project), ...refusals(400, 401) },
    },
    handler: async (request, reply) => {
      const { scope } = keyCallerOf(request);
      const { name, query = '' } = request.query;
      const asked = pageOf(request.query);
      const matching = (await store.projects.list(scope.organizationId)).filter(
        (project) =>
          (scope.projectId === null || project.id === scope.projectId) &&
          (name === undefined || project.name === name) &&
          project.name.toLowerCase().includes(query.toLowerCase()),
      );
      const rows = matching.slice(asked.offset, asked.offset + asked.limit);
      sendPageHeaders(reply, asked, { rows, hasMore: asked.offset + rows.length < matching.length });
      return rows.map(presentProject);
    },
  });
}

/** `POST /org/projects`: for organization-wide credentials. */
function createProject(app: ApiServer, { store }: ApiParts, path: Path): void {
  app.route({
    method: 'POST',
    url: path.url,
    schema: {
      operationId: 'createProject',
      tags,
      hide: path.hide,
      body: ProjectCreate,
      response: { 201: Project, ...refusals(400, 401, 403) },
    },
    handler: async (request, reply) => {
      const { scope } = keyCallerOf(request);
      if (scope.projectId !== null) {
        throw new HoldfastError(
          'forbidden',
          'This key is for one project; create projects with an organization-wide key',
        );
      }
      const project = await store.projects.create(scope.organizationId, { name: request.body.name });
      return reply.code(201).send(presentProject(project));
    },
  });
}

/** `GET /org/projects/{id or name}`. */
function retrieveProject(app: ApiServer, { store }: ApiParts, path: Path): void {
  app.route({
    method: 'GET',
    url: `${path.url}/:id_or_name`,
    schema: {
      operationId: 'retrieveProject',
      tags,
      hide: path.hide,
      params: IdOrNameParams,
      response: { 200: Project, ...refusals(400, 401, 404) },
    },
    handler: async (request) =>
      presentProject(await findProject(store, keyCallerOf(request).scope, request.params.id_or_name, true)),
  });
}

/** `PATCH /org/projects/{id or name}`: a new name, for organization-wide credentials. */
function updateProject(app: ApiServer, { store }: ApiParts, path: Path): void {
  app.route({
    method: 'PATCH',
    url: `${path.url}/:id_or_name`,
    schema: {
      operationId: 'updateProject',
      tags,
      hide: path.hide,
      params: IdOrNameParams,
      body: ProjectUpdate,
      response: { 200: Project, ...refusals(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { scope, key } = keyCallerOf(request);
      if (key.projectId !== null) {
        throw new HoldfastError('forbidden', 'This key is for one project; use an organization-wide key');
      }
      if (request.body.status === 'archived') throw invalidField('status', NOT_ARCHIVED);
      const project = await findProject(store, scope, request.params.id_or_name, true);
      const { name = project.name } = request.body;
      await store.projects.rename(scope.organizationId, project.id, name);
      return presentProject({ ...project, name });
    },
  });
}

/** `DELETE /org/projects/{id or name}`: not here; the answer says so. */
function deleteProject(app: ApiServer, path: Path): void {
  app.route({
    method: 'DELETE',
    url: `${path.url}/:id_or_name`,
    schema: {
      operationId: 'deleteProject',
      tags,
      hide: path.hide,
      params: IdOrNameParams,
      response: refusals(401, 404),
    },
    handler: () => {
      throw new HoldfastError('not_found', `This installation ${NOT_ARCHIVED}`);
    },
  });
}

/** A project as it is answered. Projects are not archived, and no one asks when they got their name. */
function presentProject(record: ProjectRecord): Project {
  const at = record.createdAt.toISOString();
  return { id: record.id, name: record.name, status: 'active', created_at: at, updated_at: at };
}
