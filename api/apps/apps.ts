import { z } from 'zod';
import { APP_REGION, AppVersion } from '../../contract/apps.ts';
import type { AppVersionRecord } from '../../store/queries/app-versions.ts';
import { type PrincipalCaller, canSeeAccessLinks, principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { pageOf, queryFilter, pageQueryWithOneMore, sendPageHeaders } from '../paging.ts';
import type { ApiParts } from '../parts.ts';

const Query = z.object({
  app_name: queryFilter().describe('The whole name'),
  version: queryFilter().describe('The whole version'),
  query: queryFilter().describe('Part of the name, in any case'),
  ...pageQueryWithOneMore,
});

/** `GET /apps`: versions of apps, newest first, a bare array with paging headers. */
export function registerApps(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/apps',
    config: { returnsSecret: hasEnvValue },
    schema: { operationId: 'listApps', tags: ['apps'], querystring: Query, response: { 200: z.array(AppVersion) } },
    handler: async (request, reply) => {
      const { app_name: appName, version, query } = request.query;
      const paging = pageOf(request.query);
      const filter = { ...paging, ...omitUndefined({ appName, version, query }) };
      const caller = principalCallerOf(request);
      const page = await store.deployments.listVersions(caller.scope, filter);
      sendPageHeaders(reply, paging, page);
      const presentEnvVars = envVarsFor({ store }, caller);
      const shown = async (row: AppVersionRecord): Promise<AppVersion> => ({
        id: row.id,
        app_name: row.appName,
        version: row.version,
        region: APP_REGION,
        deployment: row.deploymentId,
        actions: row.actions,
        env_vars: await presentEnvVars({ id: row.deploymentId, envNames: row.envNames }),
      });
      return Promise.all(page.rows.map(shown));
    },
  });
}

/** Presents the environment of a deployment to a caller. */
type PresentEnvVars = (deployment: { id: string; envNames: string[] }) => Promise<Record<string, string>>;

/**
 * Environments for a caller: all names, with values only for operators in the console (interface.md, "App version summary").
 * Create one per request: it caches environments that several versions share.
 */
export function envVarsFor({ store }: Pick<ApiParts, 'store'>, caller: PrincipalCaller): PresentEnvVars {
  const inConsole = caller.kind === 'user' && caller.source === 'dashboard' && canSeeAccessLinks(caller);
  const opened = new Map<string, ReturnType<typeof store.deployments.source>>();
  return async ({ id, envNames }) => {
    const redacted = Object.fromEntries(envNames.map((name) => [name, '']));
    if (!inConsole || envNames.length === 0) return redacted;
    const source = opened.get(id) ?? store.deployments.source(id);
    opened.set(id, source);
    return (await source)?.envVars ?? redacted;
  };
}

/** Whether a serialized response contains the value of an environment variable. */
export function hasEnvValue(body: unknown): boolean {
  return typeof body === 'string' && /"env_vars":\{[^}]*":"[^"]/.test(body);
}
