import { sql, type Selectable } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { findOne, readIds, type Scope } from '../scope.ts';
import { lockProjectsEnabled } from './organizations.ts';

/** A project: isolates resources within an organization. */
export interface ProjectRecord {
  id: string;
  organizationId: string;
  name: string;
  createdAt: Date;
  updatedAt: Date;
  /** When it was archived; null while it is active. */
  archivedAt: Date | null;
}

/** Projects. Deleted ones are not found. */
export interface ProjectQueries {
  /** Null if the project does not exist, or is outside the scope. Finds archived projects too. */
  find(scope: Scope, projectId: string): Promise<ProjectRecord | null>;
  /** The project that an organization-wide credential writes to if the request names none: the oldest. */
  defaultOf(organizationId: string): Promise<ProjectRecord>;
  /** Oldest first, including archived ones. */
  list(organizationId: string): Promise<ProjectRecord[]>;
  /**
   * Returns the existing project if the organization has one with that id. Without an id, throws `projects_disabled` if
   * projects are off, and `already_exists` if the name is taken.
   */
  create(organizationId: string, input: { id?: string; name: string }): Promise<ProjectRecord>;
  /**
   * Renames, archives or unarchives a project. Null if there is none. Throws `already_exists` if the name is taken, and
   * `operation_failed` when archiving the default project or one with background activity.
   */
  update(
    organizationId: string,
    id: string,
    change: { name?: string; isArchived?: boolean },
  ): Promise<ProjectRecord | null>;
  /** The organization of a project, even a deleted one; null if it never existed. Internal: no scope is checked. */
  organizationOf(projectId: string): Promise<string | null>;
  /** The archived or deleted ones among these projects. Internal: no scope is checked. */
  filterInactive(projectIds: readonly string[]): Promise<string[]>;
  /** Deletes an empty project with its API keys. False if there is none. Throws `operation_failed` if it is not empty. */
  remove(organizationId: string, id: string): Promise<boolean>;
}

const PROJECT_INACTIVE = 'The project is archived or deleted; unarchive it with PATCH /org/projects/{id}';

/** What a project can contain: tables, the rows that count, and the name in error messages. */
const CONTENTS = [
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
/** Contents with background activity, which would continue in an archived project. */
const ACTIVE_CONTENTS = CONTENTS.slice(0, 3);

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
    const project = await findOne(ofOrganization(from, organizationId), present);
    if (project === null) throw new HoldfastError('not_found', 'The organization has no project; create one');
    return project;
  };
  /** Runs `change` under a lock on the project's row. */
  const withLock = <Result>(
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
      return findOne(ofOrganization(db, scope.organizationId).where('id', '=', projectId), present);
    },
    defaultOf: (organizationId) => defaultOf(db, organizationId),
    list: async (organizationId) => (await ofOrganization(db, organizationId).execute()).map(present),
    create: async (organizationId, { id: given, name }) => {
      const now = clock();
      const id = given ?? newId('prj');
      const values = { id, organization_id: organizationId, name, created_at: now, updated_at: now };
      await db.transaction().execute(async (trx) => {
        // Only the setup of Holdfast itself passes an id.
        if (given === undefined) {
          await lockProjectsEnabled(trx, organizationId);
          await assertNameAvailable(trx, organizationId, id, name);
        }
        await trx
          .insertInto('projects')
          .values(values)
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute();
      });
      const project = await findOne(ofOrganization(db, organizationId).where('id', '=', id), present);
      if (project === null)
        throw new HoldfastError(
          'already_exists',
          'id: another organization has a project with this id; choose another',
        );
      return project;
    },
    update: (organizationId, id, { name, isArchived }) =>
      withLock(organizationId, id, async (trx, project) => {
        if (isArchived === false) await lockProjectsEnabled(trx, organizationId);
        if (name !== undefined && name !== project.name) await assertNameAvailable(trx, organizationId, id, name);
        const isNewlyArchived = isArchived === true && project.archivedAt === null;
        if (isNewlyArchived) {
          assertNotDefault(await defaultOf(trx, organizationId), id, 'archived');
          await assertEmpty(trx, id, ACTIVE_CONTENTS, 'archived');
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
    filterInactive: async (projectIds) => {
      if (projectIds.length === 0) return [];
      return readIds(
        db
          .selectFrom('projects')
          .select('id')
          .where('id', 'in', projectIds)
          .where((eb) => eb.or([eb('archived_at', 'is not', null), eb('deleted_at', 'is not', null)])),
      );
    },
    remove: async (organizationId, id) => {
      const removed = await withLock(organizationId, id, async (trx) => {
        assertNotDefault(await defaultOf(trx, organizationId), id, 'deleted');
        await assertEmpty(trx, id, CONTENTS, 'deleted');
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
 * Inserts into a project in a transaction that keeps it active: archiving or deleting the project waits for the commit, and
 * then sees the new row. Throws `not_found` without inserting if the project is archived or deleted.
 */
export function withActiveProject<Row>(db: Db, projectId: string, insert: (trx: Db) => Promise<Row>): Promise<Row> {
  return db.transaction().execute(async (trx) => {
    if ((await lockActiveProject(trx, projectId)) === null) throw new HoldfastError('not_found', PROJECT_INACTIVE);
    return insert(trx);
  });
}

/** Keeps a project active until the transaction ends. Returns its organization; null if it is not active. */
export async function lockActiveProject(trx: Db, projectId: string): Promise<string | null> {
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
 * Throws if another project of the organization, even an archived one, has the name: requests select projects by name.
 * Concurrent calls for the same name wait for each other.
 */
async function assertNameAvailable(trx: Db, organizationId: string, id: string, name: string): Promise<void> {
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
  throw new HoldfastError(
    'already_exists',
    'name: the organization already has a project with this name; choose another',
  );
}

function assertNotDefault({ id: defaultId }: ProjectRecord, id: string, what: 'archived' | 'deleted'): void {
  if (defaultId !== id) return;
  throw new HoldfastError(
    'operation_failed',
    `The default project cannot be ${what}: requests without a project use it; choose another project`,
  );
}

/** Throws if the project has any of these contents, naming them. */
async function assertEmpty(
  trx: Db,
  id: string,
  contents: readonly (typeof CONTENTS)[number][],
  what: 'archived' | 'deleted',
): Promise<void> {
  const held: string[] = [];
  for (const { table, words, counts } of contents) {
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

function present(row: Selectable<Database['projects']>): ProjectRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
  };
}
