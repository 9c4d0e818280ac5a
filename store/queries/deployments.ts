import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { DEFAULT_APP_VERSION, type DeploymentStatus } from '../../contract/apps.ts';
import { newId } from '../../contract/ids.ts';
import type { BuiltApps } from '../../contract/programs.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  matchesSearch,
  readPage,
  searchText,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import { parseValues, type Vault } from '../vault/vault.ts';
import { appendEvents, type AppEventBody } from './app-events.ts';
import { listVersions, takeVersions, type AppVersionRecord, type VersionFilter } from './app-versions.ts';
import { archivePlace, openArchive } from './program-archives.ts';
import { withActiveProject } from './projects.ts';

/** Where a program was fetched; no secret. */
export interface Repository {
  url: string;
  ref: string;
  path?: string;
}

/** A deployment without its archive and its values. */
export interface DeploymentRecord {
  id: string;
  projectId: string;
  status: DeploymentStatus;
  statusReason: string | null;
  entrypoint: string;
  envNames: string[];
  checksum: string;
  /** Where it was fetched; null for an archive that was sent. */
  repository: Repository | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What a worker builds and runs. Holds secrets. */
export interface ProgramSource {
  projectId: string;
  entrypoint: string;
  envVars: Record<string, string>;
}

/** Programs that were deployed, and the versions of apps that came of them. */
export interface DeploymentQueries {
  create(
    scope: ProjectScope,
    input: {
      entrypoint: string;
      envVars: Record<string, string>;
      version: string;
      force: boolean;
      archive: Buffer;
      /** SHA-256 of what the archive was made of, in hex; its own when left out. */
      checksum?: string;
      repository?: Repository;
    },
  ): Promise<DeploymentRecord>;
  find(scope: Scope, id: string): Promise<DeploymentRecord | null>;
  /** Newest first. `query`: a part of an app's name in any case, or the whole id. */
  list(
    scope: Scope,
    filter: PageRequest & { appName?: string; appVersion?: string; query?: string },
  ): Promise<Page<DeploymentRecord>>;
  listVersions(scope: Scope, filter: PageRequest & VersionFilter): Promise<Page<AppVersionRecord>>;
  /** What its archive is run with; null when both are deleted. */
  source(id: string): Promise<ProgramSource | null>;
  archive(id: string): Promise<Buffer | null>;
  /** A build has begun; false when the deployment has ended before. */
  begin(id: string): Promise<boolean>;
  /**
   * Gives the apps of a build their versions, all or none. Answers the one (`name@version`) that another deployment has and that
   * may not be taken over, else null. The version that nobody names is taken over by each deployment.
   */
  finish(id: string, apps: BuiltApps): Promise<string | null>;
  /** Ends a deployment that has not ended, its versions with it. False when it had ended. */
  end(id: string, status: 'failed' | 'stopped', reason: string | null): Promise<boolean>;
  /** Ids of those whose build is not over and that were made before; oldest first. */
  unfinished(before: Date, limit: number): Promise<string[]>;
}

type Row = Omit<Selectable<Database['deployments']>, 'archive' | 'sealed_archive' | 'sealed_env_vars'>;

/** All but the archive, which may be large, and what is sealed. */
const FACTS = [
  'id',
  'organization_id',
  'project_id',
  'status',
  'status_reason',
  'entrypoint',
  'version',
  'force',
  'env_names',
  'checksum',
  'repository',
  'search',
  'event_count',
  'created_at',
  'updated_at',
] as const;

export function createDeploymentQueries(db: Db, vault: Vault, clock: () => Date): DeploymentQueries {
  const inScope = (scope: Scope) => db.selectFrom('deployments').select(FACTS).where(withinScope(scope, 'deployments'));
  const tell = (trx: Db, id: string, ...bodies: AppEventBody[]) =>
    appendEvents(
      trx,
      vault,
      clock(),
      { table: 'deployments', id },
      bodies.map((body) => ({ body })),
    );
  /** Ends a former deployment when none of its versions is left. */
  const stopIfReplaced = async (trx: Db, id: string): Promise<void> => {
    const left = await trx.selectFrom('app_versions').select('id').where('deployment_id', '=', id).executeTakeFirst();
    if (left !== undefined) return;
    const reason = 'Another deployment has taken its place';
    await trx
      .updateTable('deployments')
      .set({ status: 'stopped', status_reason: reason, updated_at: clock() })
      .where('id', '=', id)
      .where('status', '=', 'running')
      .execute();
    await tell(trx, id, { event: 'state', status: 'stopped', reason });
  };

  return {
    create: async (scope, { entrypoint, envVars, version, force, archive, checksum, repository }) => {
      const id = newId('dep');
      const now = clock();
      const place = { table: 'deployments', column: 'sealed_env_vars', rowId: id };
      return withActiveProject(db, scope.projectId, async (trx) => {
        const row = await trx
          .insertInto('deployments')
          .values({
            id,
            organization_id: scope.organizationId,
            project_id: scope.projectId,
            status: 'queued',
            status_reason: null,
            entrypoint,
            version,
            force,
            env_names: JSON.stringify(Object.keys(envVars)),
            sealed_env_vars: await vault.sealJson(trx, scope.organizationId, place, envVars),
            archive: null,
            sealed_archive: await vault.sealBytes(trx, scope.organizationId, archivePlace(id), archive),
            checksum: checksum ?? createHash('sha256').update(archive).digest('hex'),
            repository: repository === undefined ? null : JSON.stringify(repository),
            search: '',
            created_at: now,
            updated_at: now,
          })
          .returning(FACTS)
          .executeTakeFirstOrThrow();
        await tell(trx, id, { event: 'state', status: 'queued' });
        return present(row);
      });
    },
    find: async (scope, id) => {
      const row = await inScope(scope).where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    list: (scope, { appName, appVersion, query, ...page }) => {
      const versions = db
        .selectFrom('app_versions')
        .select('deployment_id')
        .$if(appName !== undefined, (q) => q.where('app_name', '=', appName ?? ''))
        .$if(appVersion !== undefined, (q) => q.where('version', '=', appVersion ?? ''));
      const ordered = inScope(scope)
        .$if(appName !== undefined, (q) => q.where('id', 'in', versions))
        .$if(query !== undefined, (q) => q.where(matchesSearch(query ?? '')))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc');
      return readPage(ordered, page, present);
    },
    listVersions: (scope, filter) => listVersions(db, scope, filter),
    source: async (id) => {
      const row = await db
        .selectFrom('deployments')
        .select(['organization_id', 'project_id', 'entrypoint', 'sealed_env_vars'])
        .where('id', '=', id)
        .executeTakeFirst();
      if (row === undefined || row.sealed_env_vars === null) return null;
      const place = { table: 'deployments', column: 'sealed_env_vars', rowId: id };
      const envVars = parseValues(await vault.openJson(db, row.organization_id, place, row.sealed_env_vars));
      return { projectId: row.project_id, entrypoint: row.entrypoint, envVars };
    },
    archive: (id) => openArchive(db, vault, id),
    begin: (id) =>
      db.transaction().execute(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('deployments')
          .set({ status: 'in_progress', updated_at: clock() })
          .where('id', '=', id)
          .where('status', 'in', ['queued', 'in_progress'])
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await tell(trx, id, { event: 'state', status: 'in_progress' });
        return true;
      }),
    finish: (id, apps) =>
      db.transaction().execute(async (trx) => {
        const deployment = await trx
          .selectFrom('deployments')
          .select(['organization_id', 'project_id', 'version', 'force', 'status'])
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst();
        if (deployment?.status !== 'in_progress') return null;
        const { version } = deployment;
        const mayReplace = deployment.force || version === DEFAULT_APP_VERSION;
        const taken = await takeVersions(trx, { ...deployment, deployment_id: id, mayReplace }, apps, clock());
        if (typeof taken === 'string') return taken;
        const search = searchText(...apps.map(({ name }) => name));
        await trx
          .updateTable('deployments')
          .set({ status: 'running', search, updated_at: clock() })
          .where('id', '=', id)
          .execute();
        await tell(trx, id, ...taken.events, { event: 'state', status: 'running' });
        for (const each of taken.from) await stopIfReplaced(trx, each);
        return null;
      }),
    end: (id, status, reason) =>
      db.transaction().execute(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('deployments')
          .set({ status, status_reason: reason, updated_at: clock() })
          .where('id', '=', id)
          .where('status', 'in', ['queued', 'in_progress', ...(status === 'stopped' ? (['running'] as const) : [])])
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await trx.deleteFrom('app_versions').where('deployment_id', '=', id).execute();
        await tell(trx, id, { event: 'state', status, ...(reason === null ? {} : { reason }) });
        return true;
      }),
    unfinished: async (before, limit) => {
      const rows = await db
        .selectFrom('deployments')
        .select('id')
        .where('status', 'in', ['queued', 'in_progress'])
        .where('created_at', '<', before)
        .orderBy('created_at')
        .limit(limit)
        .execute();
      return rows.map(({ id }) => id);
    },
  };
}

function present(row: Row): DeploymentRecord {
  return {
    id: row.id,
    projectId: row.project_id,
    status: row.status,
    statusReason: row.status_reason,
    entrypoint: row.entrypoint,
    envNames: row.env_names,
    checksum: row.checksum,
    repository: row.repository,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
