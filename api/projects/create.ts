import { HoldfastError } from '../../contract/errors.ts';
import { Project, ProjectCreate } from '../../contract/projects.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { presentProject } from './answer.ts';

/** `POST /org/projects`: for organization-wide credentials. */
export function registerCreateProject(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/org/projects',
    schema: {
      operationId: 'createProject',
      tags: ['projects'],
      body: ProjectCreate,
      response: { 201: Project, ...refusals(400, 401, 403) },
    },
    handler: async (request, reply) => {
      const { scope } = keyCallerOf(request);
      if (scope.projectId !== null) {
        throw new HoldfastError('forbidden', 'a project is made with an organization-wide credential');
      }
      const project = await store.projects.create(scope.organizationId, { name: request.body.name });
      return reply.code(201).send(presentProject(project));
    },
  });
}
