import { z } from 'zod';
import { APP_REGION, AppVersion } from '../contract/apps.ts';
import { refusals } from './answer-schemas.ts';
import { keyCallerOf } from './caller.ts';
import type { ApiServer } from './context.ts';
import { defined } from './defined.ts';
import { pageOf, pageQuery, sendPageHeaders } from './pages.ts';
import type { ApiParts } from './parts.ts';

/** A filter of a list: an empty one is none, as clients send it. */
export const Filter = z
  .string()
  .max(255)
  .optional()
  .transform((text) => (text === '' ? undefined : text));

const Query = z.object({
  app_name: Filter.describe('The whole name'),
  version: Filter.describe('The whole version'),
  query: Filter.describe('Part of the name, in any case'),
  ...pageQuery,
});

/** `GET /apps`: versions of apps, newest first, a bare array with paging headers. */
export function registerApps(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/apps',
    schema: {
      operationId: 'listApps',
      tags: ['apps'],
      querystring: Query,
      response: { 200: z.array(AppVersion), ...refusals(400, 401) },
    },
    handler: async (request, reply) => {
      const { app_name: appName, version, query } = request.query;
      const asked = pageOf(request.query);
      const filter = { ...asked, ...defined({ appName, version, query }) };
      const page = await store.deployments.listVersions(keyCallerOf(request).scope, filter);
      sendPageHeaders(reply, asked, page);
      return page.rows.map((row): AppVersion => ({
        id: row.id,
        app_name: row.appName,
        version: row.version,
        region: APP_REGION,
        deployment: row.deploymentId,
        actions: row.actions,
        env_vars: redacted(row.envNames),
      }));
    },
  });
}

/** Every name with an empty value: an API key is shown no more, and there are no other callers. */
export function redacted(names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, '']));
}
