import { z } from 'zod';
import { APP_REGION, AppVersion } from '../contract/apps.ts';
import type { AppVersionRecord } from '../store/queries/app-versions.ts';
import { principalCallerOf } from './caller.ts';
import type { ApiServer } from './context.ts';
import { defined } from './defined.ts';
import { envVarsFor, holdsEnvValue } from './env-vars.ts';
import { pageOf, pageQueryWithOneMore, sendPageHeaders } from './pages.ts';
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
  ...pageQueryWithOneMore,
});

/** `GET /apps`: versions of apps, newest first, a bare array with paging headers. */
export function registerApps(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/apps',
    config: { answersSecret: holdsEnvValue },
    schema: {
      operationId: 'listApps',
      tags: ['apps'],
      querystring: Query,
      response: { 200: z.array(AppVersion) },
    },
    handler: async (request, reply) => {
      const { app_name: appName, version, query } = request.query;
      const asked = pageOf(request.query);
      const filter = { ...asked, ...defined({ appName, version, query }) };
      const caller = principalCallerOf(request);
      const page = await store.deployments.listVersions(caller.scope, filter);
      sendPageHeaders(reply, asked, page);
      const showEnvVars = envVarsFor({ store }, caller);
      const shown = async (row: AppVersionRecord): Promise<AppVersion> => ({
        id: row.id,
        app_name: row.appName,
        version: row.version,
        region: APP_REGION,
        deployment: row.deploymentId,
        actions: row.actions,
        env_vars: await showEnvVars({ id: row.deploymentId, envNames: row.envNames }),
      });
      return Promise.all(page.rows.map(shown));
    },
  });
}
