import { sql } from 'kysely';
import type { AppAction } from '../../contract/apps.ts';
import { newId } from '../../contract/ids.ts';
import type { BuiltApps } from '../../contract/programs.ts';
import type { Db } from '../database.ts';
import { containsText, readPage, searchText, withinScope, type Page, type PageRequest, type Scope } from '../scope.ts';
import type { AppEventBody } from './app-events.ts';

/** A version of an app, built by a deployment. */
export interface AppVersionRecord {
  id: string;
  appName: string;
  version: string;
  deploymentId: string;
  actions: AppAction[];
  envNames: string[];
}

/** `query`: a case-insensitive part of the app's name. */
export interface VersionFilter {
  appName?: string;
  version?: string;
  query?: string;
}

/** Versions of apps, newest first. */
export function listVersions(
  db: Db,
  scope: Scope,
  { appName, version, query, ...page }: PageRequest & VersionFilter,
): Promise<Page<AppVersionRecord>> {
  const ordered = db
    .selectFrom('app_versions')
    .innerJoin('deployments', 'deployments.id', 'app_versions.deployment_id')
    .selectAll('app_versions')
    .select('deployments.env_names')
    .where(withinScope(scope, 'app_versions'))
    .$if(appName !== undefined, (q) => q.where('app_name', '=', appName ?? ''))
    .$if(version !== undefined, (q) => q.where('app_versions.version', '=', version ?? ''))
    .where(containsText(sql.ref('app_versions.search'), query))
    .orderBy('app_versions.created_at', 'desc')
    .orderBy('app_versions.id', 'desc');
  return readPage(ordered, page, (row) => ({
    id: row.id,
    appName: row.app_name,
    version: row.version,
    deploymentId: row.deployment_id,
    actions: row.actions,
    envNames: row.env_names,
  }));
}

/** The deployment that claims versions for its apps. */
interface VersionClaim {
  deployment_id: string;
  organization_id: string;
  project_id: string;
  version: string;
  /** Whether it may replace versions of another deployment. */
  mayReplace: boolean;
}

/**
 * Gives the apps of a build their versions. Returns the first conflict (`name@version`) without changing anything, else the
 * events to record and the deployments that lost a version.
 */
export async function claimVersions(
  trx: Db,
  { deployment_id, organization_id, project_id, version, mayReplace }: VersionClaim,
  apps: BuiltApps,
  now: Date,
): Promise<string | { events: AppEventBody[]; replaced: Set<string> }> {
  const former = await trx
    .selectFrom('app_versions')
    .select(['app_name', 'deployment_id'])
    .where('project_id', '=', project_id)
    .where('version', '=', version)
    .where('app_name', 'in', [...apps.map(({ name }) => name), ''])
    .where('deployment_id', '!=', deployment_id)
    .execute();
  const [conflict] = former;
  if (conflict !== undefined && !mayReplace) return `${conflict.app_name}@${version}`;
  const events: AppEventBody[] = [];
  for (const { name, actions } of apps) {
    const values = { deployment_id, actions: JSON.stringify(actions), created_at: now };
    const { id } = await trx
      .insertInto('app_versions')
      .values({
        id: newId('app'),
        organization_id,
        project_id,
        app_name: name,
        version,
        search: searchText(name),
        ...values,
      })
      .onConflict((conflict) => conflict.columns(['project_id', 'app_name', 'version']).doUpdateSet(values))
      .returning('id')
      .executeTakeFirstOrThrow();
    events.push({ event: 'app_version_summary', version: { id, app_name: name, version, actions } });
  }
  return { events, replaced: new Set(former.map((each) => each.deployment_id)) };
}
