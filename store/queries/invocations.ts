import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { InvocationStatus } from '../../contract/apps.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  affectsRow,
  matchesSearch,
  ownerColumns,
  readIds,
  readPage,
  searchText,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import type { Vault } from '../vault/vault.ts';
import { appendAppEvents, type AppEventBody } from './app-events.ts';
import { withActiveProject } from './projects.ts';

/** How an invocation ended: its output as JSON, and the reason if there is one. */
const Outcome = z.object({ output: z.string().optional(), reason: z.string().optional() });
type InvocationOutcome = z.infer<typeof Outcome>;

/** An invocation, with its opened payload and outcome. */
export interface InvocationRecord {
  id: string;
  organizationId: string;
  projectId: string;
  deploymentId: string;
  appName: string;
  version: string;
  actionName: string;
  status: InvocationStatus;
  payload: string | null;
  outcome: InvocationOutcome;
  retries: number;
  startedAt: Date;
  expiresAt: Date;
  finishedAt: Date | null;
}

/** Filters of a list. `query`: a case-insensitive part of the app's or action's name, or the whole id. */
interface InvocationFilter {
  appName?: string;
  actionName?: string;
  version?: string;
  deploymentId?: string;
  status?: InvocationStatus;
  since?: Date;
  query?: string;
}

/** Invocations of actions. Payloads and outcomes are sealed. */
export interface InvocationQueries {
  /**
   * Throws `not_found` if the project has no such app version or the version has no such action, `capacity_exhausted` if the
   * project has reached its limit of running invocations.
   */
  create(
    scope: ProjectScope,
    input: {
      appName: string;
      version: string;
      actionName: string;
      payload: string | null;
      retries: number;
      timeoutSeconds: number;
    },
  ): Promise<InvocationRecord>;
  find(scope: Scope, id: string): Promise<InvocationRecord | null>;
  /** For workers: no scope is checked. */
  byId(id: string): Promise<InvocationRecord | null>;
  /** Newest first. */
  list(scope: Scope, filter: PageRequest & InvocationFilter): Promise<Page<InvocationRecord>>;
  /** Records that a run has started. False if the invocation has already ended. */
  begin(id: string): Promise<boolean>;
  /** Ends an invocation. False if it has already ended. */
  end(id: string, status: 'succeeded' | 'failed', outcome: InvocationOutcome): Promise<boolean>;
  /** Ids of invocations started before `before` that have not ended, oldest first. */
  unfinished(before: Date, limit: number): Promise<string[]>;
  /** Ids of a deployment's invocations that have not ended. */
  unfinishedOf(deploymentId: string): Promise<string[]>;
}

type Row = Selectable<Database['invocations']>;

export function createInvocationQueries(db: Db, vault: Vault, clock: () => Date): InvocationQueries {
  const placeOf = (column: 'sealed_payload' | 'sealed_outcome', rowId: string) => ({
    table: 'invocations',
    column,
    rowId,
  });
  const open = async (row: Row): Promise<InvocationRecord> => {
    const { organization_id: organization, sealed_payload: payload, sealed_outcome: outcome } = row;
    return {
      id: row.id,
      organizationId: organization,
      projectId: row.project_id,
      deploymentId: row.deployment_id,
      appName: row.app_name,
      version: row.version,
      actionName: row.action_name,
      status: row.status,
      payload: await vault.openText(db, organization, placeOf('sealed_payload', row.id), payload),
      outcome:
        outcome === null
          ? {}
          : Outcome.parse(await vault.openJson(db, organization, placeOf('sealed_outcome', row.id), outcome)),
      retries: row.retries,
      startedAt: row.started_at,
      expiresAt: row.expires_at,
      finishedAt: row.finished_at,
    };
  };
  const recordEvent = (trx: Db, id: string, body: AppEventBody) =>
    appendAppEvents(trx, vault, clock(), { table: 'invocations', id }, [{ body }]);
  const inScope = (scope: Scope) => db.selectFrom('invocations').selectAll().where(withinScope(scope, 'invocations'));
  const openOrNull = async (row: Row | undefined) => (row === undefined ? null : open(row));

  return {
    create: async (scope, { appName, version, actionName, payload, retries, timeoutSeconds }) => {
      const app = await db
        .selectFrom('app_versions')
        .select(['deployment_id', 'actions'])
        .where('project_id', '=', scope.projectId)
        .where('app_name', '=', appName)
        .where('version', '=', version)
        .executeTakeFirst();
      if (app === undefined) throw new HoldfastError('not_found', 'No app with this name has this version; list /apps');
      if (!app.actions.some(({ name }) => name === actionName)) {
        throw new HoldfastError('not_found', 'This version of the app has no action with this name; list /apps');
      }
      const id = newId('inv');
      const now = clock();
      const organization = scope.organizationId;
      const row = await withActiveProject(db, scope.projectId, async (trx) => {
        await assertCapacity(trx, scope.projectId);
        const created = await trx
          .insertInto('invocations')
          .values({
            id,
            ...ownerColumns(scope),
            deployment_id: app.deployment_id,
            app_name: appName,
            version,
            action_name: actionName,
            status: 'queued',
            sealed_payload:
              payload === null ? null : await vault.sealJson(trx, organization, placeOf('sealed_payload', id), payload),
            sealed_outcome: null,
            retries,
            search: searchText(appName, actionName),
            started_at: now,
            expires_at: new Date(now.getTime() + timeoutSeconds * 1000),
            finished_at: null,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        await recordEvent(trx, id, { event: 'state', status: 'queued' });
        return created;
      });
      return open(row);
    },
    find: async (scope, id) => openOrNull(await inScope(scope).where('id', '=', id).executeTakeFirst()),
    byId: async (id) =>
      openOrNull(await db.selectFrom('invocations').selectAll().where('id', '=', id).executeTakeFirst()),
    list: async (scope, { limit, offset, query, since, ...filter }) => {
      const columns = {
        app_name: filter.appName,
        action_name: filter.actionName,
        version: filter.version,
        deployment_id: filter.deploymentId,
        status: filter.status,
      };
      let ordered = inScope(scope).where(matchesSearch(query)).orderBy('started_at', 'desc').orderBy('id', 'desc');
      for (const [column, value] of Object.entries(columns) as [keyof typeof columns, string | undefined][]) {
        if (value !== undefined) ordered = ordered.where(column, '=', value);
      }
      if (since !== undefined) ordered = ordered.where('started_at', '>=', since);
      const page = await readPage(ordered, { limit, offset }, (row) => row);
      return { rows: await Promise.all(page.rows.map(open)), hasMore: page.hasMore };
    },
    begin: (id) =>
      db.transaction().execute(async (trx) => {
        const isUnfinished = await affectsRow(
          trx
            .updateTable('invocations')
            .set({ status: 'running' })
            .where('id', '=', id)
            .where('finished_at', 'is', null),
        );
        if (isUnfinished) await recordEvent(trx, id, { event: 'state', status: 'running' });
        return isUnfinished;
      }),
    end: (id, status, outcome) =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .selectFrom('invocations')
          .select('organization_id')
          .where('id', '=', id)
          .where('finished_at', 'is', null)
          .forUpdate()
          .executeTakeFirst();
        if (row === undefined) return false;
        await trx
          .updateTable('invocations')
          .set({
            status,
            finished_at: clock(),
            sealed_outcome: await vault.sealJson(trx, row.organization_id, placeOf('sealed_outcome', id), outcome),
          })
          .where('id', '=', id)
          .execute();
        await recordEvent(trx, id, { event: 'state', status, ...outcome });
        return true;
      }),
    unfinished: (before, limit) =>
      readIds(
        db
          .selectFrom('invocations')
          .select('id')
          .where('finished_at', 'is', null)
          .where('started_at', '<', before)
          .orderBy('started_at')
          .limit(limit),
      ),
    unfinishedOf: (deploymentId) =>
      readIds(
        db
          .selectFrom('invocations')
          .select('id')
          .where('finished_at', 'is', null)
          .where('deployment_id', '=', deploymentId),
      ),
  };
}

/** Throws if the project has reached its limit of running invocations. Concurrent calls wait for one another. */
async function assertCapacity(trx: Db, projectId: string): Promise<void> {
  const project = await trx
    .selectFrom('projects')
    .select('max_invocations')
    .where('id', '=', projectId)
    .where('max_invocations', 'is not', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  const limit = project?.max_invocations ?? null;
  if (limit === null) return;
  const { running } = await trx
    .selectFrom('invocations')
    .select(({ fn }) => fn.countAll<string>().as('running'))
    .where('project_id', '=', projectId)
    .where('finished_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (Number(running) < limit) return;
  throw new HoldfastError(
    'capacity_exhausted',
    `The project has reached its limit of ${limit} running invocations; end one, or raise max_concurrent_invocations`,
    { retryAfterSeconds: 5 },
  );
}
