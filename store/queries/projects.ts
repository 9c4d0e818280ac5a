import { sql } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import type { Scope } from '../scope.ts';
import { holdProjectsOn } from './organizations.ts';

/** A project: isolation of resources inside an organization. */
export interface ProjectRecord {
  id: string;
  organizationId: string;
  name: string;
  createdAt: Date;
  updatedAt: Date;
  /** Since when nothing can be done in it; null while it is active. */
  archivedAt: Date | null;
}

/** Projects. One that is deleted is not found by any of these. */
export interface ProjectQueries {
  /** Null when the project does not exist, belongs to another organization, or lies outside the scope. Archived ones, too. */
  find(scope: Scope, projectId: string): Promise<ProjectRecord | null>;
  /** The project that an organization-wide credential writes to when it names none: the oldest one. */
  defaultOf(organizationId: string): Promise<ProjectRecord>;
  /** The oldest first, archived ones among them. */
  list(organizationId: string): Promise<ProjectRecord[]>;
  /**
   * Answers the existing project when the id is taken within the organization. `projects_disabled` for one without an id, and
   * `already_exists` when another one has the name.
   */
  create(organizationId: string, input: { id?: string; name: string }): Promise<ProjectRecord>;
  /**
   * Gives a project another name, archives it or takes it back. Null when there is none. Throws `already_exists` for a name that
   * another one has, `operation_failed` for the archiving of the default project, and of one in which something goes on by itself.
   */
  update(
    organizationId: string,
    id: string,
    change: { name?: string; isArchived?: boolean },
  ): Promise<ProjectRecord | null>;
  /** Whose project this is, deleted ones included; null for none of ours. For Holdfast's own parts, so no scope is checked. */
  organizationOf(projectId: string): Promise<string | null>;
  /** Those of the projects that were archived or deleted; for Holdfast's own parts, so no scope is checked. */
  closedOf(projectIds: readonly string[]): Promise<string[]>;
  /** Deletes an empty project, its API keys with it; false when there is none. Throws `operation_failed` for any other. */
  remove(organizationId: string, id: string): Promise<boolean>;
}

const PROJECT_CLOSED = 'The project was archived or deleted; PATCH /org/projects/{id} takes an archived one back';

/** What a project can hold, in words: tables with rows that count. */
const HOLDINGS = [
  { table: 'connections', words: 'connections', counts: sql<boolean>`deleted_at is null` },
  { table: 'browser_pools', words: 'browser pools', counts: sql<boolean>`true` },
  { table: 'invocations', words: 'running invocations', counts: sql<boolean>`finished_at is null` },
  { table: 'profiles', words: 'profiles', counts: sql<boolean>`true` },
  { table: 'credentials', words: 'credentials', counts: sql<boolean>`true` },
  { table: 'proxies', words: 'proxies', counts: sql<boolean>`deleted_at is null` },
  { table: 'extensions', words: 'extensions', counts: sql<boolean>`true` },
  { table: 'deployments', words: 'deployments', counts: sql<boolean>`status not in ('stopped', 'failed')` },
  { table: 'webhooks', words: 'webhooks', counts: sql<boolean>`true` },
  { table: 'code_sources', words: 'code sources', counts: sql<boolean>`true` },
] as const;
/** Those in which Holdfast does something by itself, which an archived project would go on with. */
const AT_WORK = HOLDINGS.slice(0, 3);

/** Queries of projects. */
export function createProjectQueries(db: Db, clock: () => Date): ProjectQueries {
  const ofOrganization = (from: Db, organizationId: string) =>
    from
      .selectFrom('projects')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('deleted_at', 'is', null)
      .orderBy('created_at')
      .orderBy('id');
  const defaultOf = async (from: Db, organizationId: string): Promise<ProjectRecord> => {
    const row = await ofOrganization(from, organizationId).executeTakeFirst();
    if (row === undefined) throw new HoldfastError('not_found', 'The organization has no project');
    return present(row);
  };
  /** Runs with the project's row locked. */
  const locked = <Result>(
    organizationId: string,
    id: string,
    change: (trx: Db, project: ProjectRecord) => Promise<Result>,
  ): Promise<Result | null> =>
    db.transaction().execute(async (trx) => {
      const row = await ofOrganization(trx, organizationId).where('id', '=', id).forUpdate().executeTakeFirst();
      return row === undefined ? null : await change(trx, present(row));
    });
  return {
    find: async (scope, projectId) => {
      if (scope.projectId !== null && scope.projectId !== projectId) return null;
      const row = await ofOrganization(db, scope.organizationId).where('id', '=', projectId).executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    defaultOf: (organizationId) => defaultOf(db, organizationId),
    list: async (organizationId) => (await ofOrganization(db, organizationId).execute()).map(present),
    create: async (organizationId, { id: given, name }) => {
      const now = clock();
      const id = given ?? newId('prj');
      const values = { id, organization_id: organizationId, name, created_at: now, updated_at: now };
      await db.transaction().execute(async (trx) => {
        // Those of an id are made by Holdfast itself, as it is set up.
        if (given === undefined) {
          await holdProjectsOn(trx, organizationId);
          await refuseTakenName(trx, organizationId, id, name);
        }
        await trx
          .insertInto('projects')
          .values(values)
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute();
      });
      const row = await ofOrganization(db, organizationId).where('id', '=', id).executeTakeFirst();
      if (row === undefined)
        throw new HoldfastError('already_exists', 'Another organization has a project of that id; choose another id');
      return present(row);
    },
    update: (organizationId, id, { name, isArchived }) =>
      locked(organizationId, id, async (trx, project) => {
        if (isArchived === false) await holdProjectsOn(trx, organizationId);
        if (name !== undefined && name !== project.name) await refuseTakenName(trx, organizationId, id, name);
        const isNewlyArchived = isArchived === true && project.archivedAt === null;
        if (isNewlyArchived) {
          refuseDefault(await defaultOf(trx, organizationId), id, 'archived');
          await refuseHoldings(trx, id, AT_WORK, 'archived');
        }
        const now = clock();
        const archivedAt = isNewlyArchived ? now : isArchived === false ? null : project.archivedAt;
        const next = { ...project, name: name ?? project.name, archivedAt, updatedAt: now };
        await trx
          .updateTable('projects')
          .set({ name: next.name, archived_at: next.archivedAt, updated_at: now })
          .where('id', '=', id)
          .execute();
        return next;
      }),
    organizationOf: async (id) => {
      const row = await db.selectFrom('projects').select('organization_id').where('id', '=', id).executeTakeFirst();
      return row?.organization_id ?? null;
    },
    closedOf: async (projectIds) => {
      if (projectIds.length === 0) return [];
      const rows = await db
        .selectFrom('projects')
        .select('id')
        .where('id', 'in', projectIds)
        .where((eb) => eb.or([eb('archived_at', 'is not', null), eb('deleted_at', 'is not', null)]))
        .execute();
      return rows.map(({ id }) => id);
    },
    remove: async (organizationId, id) => {
      const removed = await locked(organizationId, id, async (trx) => {
        refuseDefault(await defaultOf(trx, organizationId), id, 'deleted');
        await refuseHoldings(trx, id, HOLDINGS, 'deleted');
        const now = clock();
        await trx
          .updateTable('api_keys')
          .set({ deleted_at: now })
          .where('project_id', '=', id)
          .where('deleted_at', 'is', null)
          .execute();
        await trx.updateTable('projects').set({ deleted_at: now }).where('id', '=', id).execute();
        return true;
      });
      return removed ?? false;
    },
  };
}

/**
 * Inserts into a project in a transaction, until whose end the project stays active: an archiving or deletion waits for it, and
 * then sees what was inserted. Throws `not_found` when it is archived or deleted already, and then nothing is inserted.
 */
export function withActiveProject<Row>(db: Db, projectId: string, insert: (trx: Db) => Promise<Row>): Promise<Row> {
  return db.transaction().execute(async (trx) => {
    if ((await holdActive(trx, projectId)) === null) throw new HoldfastError('not_found', PROJECT_CLOSED);
    return insert(trx);
  });
}

/** Has a project stay active until the transaction ends; answers whose it is, null where it is not active. */
export async function holdActive(trx: Db, projectId: string): Promise<string | null> {
  const row = await trx
    .selectFrom('projects')
    .select('organization_id')
    .where('id', '=', projectId)
    .where('archived_at', 'is', null)
    .where('deleted_at', 'is', null)
    .forKeyShare()
    .executeTakeFirst();
  return row?.organization_id ?? null;
}

/**
 * Throws for a name that another project of the organization has, an archived one too: requests choose projects by name. Those
 * who take the same name at once wait for each other.
 */
async function refuseTakenName(trx: Db, organizationId: string, id: string, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`project name ${organizationId} ${name}`}, 0))`.execute(
    trx,
  );
  const taken = await trx
    .selectFrom('projects')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('name', '=', name)
    .where('id', '!=', id)
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (taken === undefined) return;
  throw new HoldfastError('already_exists', 'The organization has a project of that `name`; choose another name');
}

function refuseDefault({ id: ofDefault }: ProjectRecord, id: string, what: 'archived' | 'deleted'): void {
  if (ofDefault !== id) return;
  throw new HoldfastError(
    'operation_failed',
    `The default project cannot be ${what}: requests that name no project go to it`,
  );
}

/** Throws for a project that holds any of these, naming them. */
async function refuseHoldings(
  trx: Db,
  id: string,
  holdings: readonly (typeof HOLDINGS)[number][],
  what: 'archived' | 'deleted',
): Promise<void> {
  const held: string[] = [];
  for (const { table, words, counts } of holdings) {
    const { rows } = await sql`select from ${sql.table(table)} where project_id = ${id} and ${counts} limit 1`.execute(
      trx,
    );
    if (rows.length > 0) held.push(words);
  }
  if (held.length === 0) return;
  throw new HoldfastError(
    'operation_failed',
    `The project still has ${held.join(', ')}; end and delete them before it is ${what}`,
  );
}

function present(row: {
  id: string;
  organization_id: string;
  name: string;
  created_at: Date;
  updated_at: Date;
  archived_at: Date | null;
}): ProjectRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
  };
}
