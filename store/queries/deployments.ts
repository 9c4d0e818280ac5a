import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { DEFAULT_APP_VERSION, type DeploymentStatus } from '../../contract/apps.ts';
import { newId } from '../../contract/ids.ts';
import type { BuiltApps } from '../../contract/programs.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  affectsRow,
  findOne,
  matchesSearch,
  ownerColumns,
  readIds,
  readNewest,
  searchText,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import { parseValues, type Vault } from '../vault/vault.ts';
import { appendAppEvents, type AppEventBody } from './app-events.ts';
import { listVersions, claimVersions, type AppVersionRecord, type VersionFilter } from './app-versions.ts';
import { archivePlace, openArchive } from './program-archives.ts';
import { withActiveProject } from './projects.ts';

/** The repository that a program was fetched from; contains no secret. */
export interface Repository {
  url: string;
  ref: string;
  path?: string;
}

/** A deployment, without its archive and environment values. */
export interface DeploymentRecord {
  id: string;
  projectId: string;
  status: DeploymentStatus;
  statusReason: string | null;
  entrypoint: string;
  envNames: string[];
  checksum: string;
  /** Null for an uploaded archive. */
  repository: Repository | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What a worker builds and runs. Contains secrets. */
export interface ProgramSource {
  projectId: string;
  entrypoint: string;
  envVars: Record<string, string>;
}

/** Deployed programs, and the app versions built from them. */
export interface DeploymentQueries {
  create(
    scope: ProjectScope,
    input: {
      entrypoint: string;
      envVars: Record<string, string>;
      version: string;
      force: boolean;
      archive: Buffer;
      /** SHA-256 of the source of the archive, in hex; defaults to that of the archive itself. */
      checksum?: string;
      repository?: Repository;
    },
  ): Promise<DeploymentRecord>;
  find(scope: Scope, id: string): Promise<DeploymentRecord | null>;
  /** Newest first. `query`: a case-insensitive part of an app's name, or the whole id. */
  list(
    scope: Scope,
    filter: PageRequest & { appName?: string; appVersion?: string; query?: string },
  ): Promise<Page<DeploymentRecord>>;
  listVersions(scope: Scope, filter: PageRequest & VersionFilter): Promise<Page<AppVersionRecord>>;
  /** How to run its archive; null once the environment values are deleted. */
  source(id: string): Promise<ProgramSource | null>;
  archive(id: string): Promise<Buffer | null>;
  /** Records that a build has started. False if the deployment has already ended. */
  begin(id: string): Promise<boolean>;
  /**
   * Gives the apps of a build their versions, all or none. Returns a version (`name@version`) of another deployment that may
   * not be replaced, else null. The default version is replaced by every deployment.
   */
  finish(id: string, apps: BuiltApps): Promise<string | null>;
  /** Ends a deployment and removes its versions. False if it has already ended. */
  end(id: string, status: 'failed' | 'stopped', reason: string | null): Promise<boolean>;
  /** Ids of deployments created before `before` whose build has not finished, oldest first. */
  unfinished(before: Date, limit: number): Promise<string[]>;
}

/** Without the archive, which may be large, and sealed values. */
const COLUMNS = [
  'id',
  'project_id',
  'status',
  'status_reason',
  'entrypoint',
  'env_names',
  'checksum',
  'repository',
  'created_at',
  'updated_at',
] as const;

type Row = Pick<Selectable<Database['deployments']>, (typeof COLUMNS)[number]>;

function envVarsPlace(id: string) {
  return { table: 'deployments', column: 'sealed_env_vars', rowId: id };
}

export function createDeploymentQueries(db: Db, vault: Vault, clock: () => Date): DeploymentQueries {
  const inScope = (scope: Scope) =>
    db.selectFrom('deployments').select(COLUMNS).where(withinScope(scope, 'deployments'));
  const record = (trx: Db, id: string, ...bodies: AppEventBody[]) =>
    appendAppEvents(
      trx,
      vault,
      clock(),
      { table: 'deployments', id },
      bodies.map((body) => ({ body })),
    );
  /** Ends a former deployment once it has no versions left. */
  const stopIfReplaced = async (trx: Db, id: string): Promise<void> => {
    const left = await trx.selectFrom('app_versions').select('id').where('deployment_id', '=', id).executeTakeFirst();
    if (left !== undefined) return;
    const reason = 'Replaced by another deployment';
    await trx
      .updateTable('deployments')
      .set({ status: 'stopped', status_reason: reason, updated_at: clock() })
      .where('id', '=', id)
      .where('status', '=', 'running')
      .execute();
    await record(trx, id, { event: 'state', status: 'stopped', reason });
  };

  return {
    create: async (scope, { entrypoint, envVars, version, force, archive, checksum, repository }) => {
      const id = newId('dep');
      const now = clock();
      return withActiveProject(db, scope.projectId, async (trx) => {
        const row = await trx
          .insertInto('deployments')
          .values({
            id,
            ...ownerColumns(scope),
            status: 'queued',
            status_reason: null,
            entrypoint,
            version,
            force,
            env_names: JSON.stringify(Object.keys(envVars)),
            sealed_env_vars: await vault.sealJson(trx, scope.organizationId, envVarsPlace(id), envVars),
            archive: null,
            sealed_archive: await vault.sealBytes(trx, scope.organizationId, archivePlace(id), archive),
            checksum: checksum ?? createHash('sha256').update(archive).digest('hex'),
            repository: repository === undefined ? null : JSON.stringify(repository),
            search: '',
            created_at: now,
            updated_at: now,
          })
          .returning(COLUMNS)
          .executeTakeFirstOrThrow();
        await record(trx, id, { event: 'state', status: 'queued' });
        return present(row);
      });
    },
    find: (scope, id) => findOne(inScope(scope).where('id', '=', id), present),
    list: (scope, { appName, appVersion, query, ...page }) => {
      const versions = db
        .selectFrom('app_versions')
        .select('deployment_id')
        .$if(appName !== undefined, (q) => q.where('app_name', '=', appName ?? ''))
        .$if(appVersion !== undefined, (q) => q.where('version', '=', appVersion ?? ''));
      const matching = inScope(scope)
        .$if(appName !== undefined, (q) => q.where('id', 'in', versions))
        .where(matchesSearch(query));
      return readNewest(matching, page, present);
    },
    listVersions: (scope, filter) => listVersions(db, scope, filter),
    source: async (id) => {
      const row = await db
        .selectFrom('deployments')
        .select(['organization_id', 'project_id', 'entrypoint', 'sealed_env_vars'])
        .where('id', '=', id)
        .executeTakeFirst();
      if (row === undefined || row.sealed_env_vars === null) return null;
      const opened = await vault.openJson(db, row.organization_id, envVarsPlace(id), row.sealed_env_vars);
      const envVars = parseValues(opened);
      return { projectId: row.project_id, entrypoint: row.entrypoint, envVars };
    },
    archive: (id) => openArchive(db, vault, id),
    begin: (id) =>
      db.transaction().execute(async (trx) => {
        const isUnfinished = await affectsRow(
          trx
            .updateTable('deployments')
            .set({ status: 'in_progress', updated_at: clock() })
            .where('id', '=', id)
            .where('status', 'in', ['queued', 'in_progress']),
        );
        if (isUnfinished) await record(trx, id, { event: 'state', status: 'in_progress' });
        return isUnfinished;
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
        const claimed = await claimVersions(trx, { ...deployment, deployment_id: id, mayReplace }, apps, clock());
        if (typeof claimed === 'string') return claimed;
        const search = searchText(...apps.map(({ name }) => name));
        await trx
          .updateTable('deployments')
          .set({ status: 'running', search, updated_at: clock() })
          .where('id', '=', id)
          .execute();
        await record(trx, id, ...claimed.events, { event: 'state', status: 'running' });
        for (const each of claimed.replaced) await stopIfReplaced(trx, each);
        return null;
      }),
    end: (id, status, reason) =>
      db.transaction().execute(async (trx) => {
        const isEnding = await affectsRow(
          trx
            .updateTable('deployments')
            .set({ status, status_reason: reason, updated_at: clock() })
            .where('id', '=', id)
            .where('status', 'in', ['queued', 'in_progress', ...(status === 'stopped' ? (['running'] as const) : [])]),
        );
        if (!isEnding) return false;
        await trx.deleteFrom('app_versions').where('deployment_id', '=', id).execute();
        await record(trx, id, { event: 'state', status, ...(reason === null ? {} : { reason }) });
        return true;
      }),
    unfinished: (before, limit) =>
      readIds(
        db
          .selectFrom('deployments')
          .select('id')
          .where('status', 'in', ['queued', 'in_progress'])
          .where('created_at', '<', before)
          .orderBy('created_at')
          .limit(limit),
      ),
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
