import { z } from 'zod';
import { Project } from '../../contract/projects.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { pageOf, pageQuery, sendPageHeaders } from '../pages.ts';
import type { ApiParts } from '../parts.ts';
import { presentProject } from './answer.ts';

const Query = z.object({
  name: z.string().max(255).optional().describe('The whole name'),
  query: z.string().max(255).optional().describe('Part of the name, in any case'),
  ...pageQuery,
});

/** `GET /org/projects`: those that the credential reaches. */
export function registerListProjects(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/org/projects',
    schema: {
      operationId: 'listProjects',
      tags: ['projects'],
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
