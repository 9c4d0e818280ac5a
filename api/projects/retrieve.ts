import { HoldfastError } from '../../contract/errors.ts';
import { Project } from '../../contract/projects.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { presentProject } from './answer.ts';

/** `GET /org/projects/{id}`. */
export function registerRetrieveProject(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/org/projects/:id',
    schema: {
      operationId: 'retrieveProject',
      tags: ['projects'],
      params: IdParams,
      response: { 200: Project, ...refusals(401, 404) },
    },
    handler: async (request) => {
      const project = await store.projects.find(keyCallerOf(request).scope, request.params.id);
      if (project === null) throw new HoldfastError('not_found', 'no such project');
      return presentProject(project);
    },
  });
}
