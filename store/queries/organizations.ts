import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Plan } from '../../contract/limits.ts';
import type { Db } from '../database.ts';
import type { Scope } from '../scope.ts';
import type { Vault } from '../vault/vault.ts';

/** An organization: the tenant, the owner of a data key, the bearer of a plan. */
export interface OrganizationRecord {
  id: string;
  name: string;
  plan: Plan;
  createdAt: Date;
}

/** A project: isolation of resources inside an organization. */
export interface ProjectRecord {
  id: string;
  organizationId: string;
  name: string;
  createdAt: Date;
}

/** Organizations. */
export interface OrganizationQueries {
  find(organizationId: string): Promise<OrganizationRecord | null>;
  /** Makes an organization and its data key. Answers the existing one when the id is taken. */
  create(input: { id: string; name: string; plan: Plan }): Promise<OrganizationRecord>;
  setPlan(organizationId: string, plan: Plan): Promise<void>;
}

/** Projects. */
export interface ProjectQueries {
  /** Null when the project does not exist, belongs to another organization, or lies outside the scope. */
  find(scope: Scope, projectId: string): Promise<ProjectRecord | null>;
  /** The project that an organization-wide credential writes to when it names none: the oldest one. */
  defaultOf(organizationId: string): Promise<ProjectRecord>;
  list(organizationId: string): Promise<ProjectRecord[]>;
  /** Answers the existing project when the id is taken within the organization. */
  create(organizationId: string, input: { id?: string; name: string }): Promise<ProjectRecord>;
  rename(organizationId: string, id: string, name: string): Promise<void>;
}

/** Queries of organizations. */
export function createOrganizationQueries(db: Db, vault: Vault, clock: () => Date): OrganizationQueries {
  const find = async (id: string): Promise<OrganizationRecord | null> => {
    const row = await db.selectFrom('organizations').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : { id: row.id, name: row.name, plan: row.plan, createdAt: row.created_at };
  };
  return {
    find,
    create: async ({ id, name, plan }) => {
      const now = clock();
      await db.transaction().execute(async (trx) => {
        await trx
          .insertInto('organizations')
          .values({ id, name, plan, created_at: now })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute();
        await vault.createOrganizationKey(trx, id, now);
      });
      return (await find(id)) ?? { id, name, plan, createdAt: now };
    },
    setPlan: async (id, plan) => {
      await db.updateTable('organizations').set({ plan }).where('id', '=', id).execute();
    },
  };
}

/** Queries of projects. */
export function createProjectQueries(db: Db, clock: () => Date): ProjectQueries {
  const present = (row: { id: string; organization_id: string; name: string; created_at: Date }): ProjectRecord => ({
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    createdAt: row.created_at,
  });
  const ofOrganization = (organizationId: string) =>
    db
      .selectFrom('projects')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('created_at')
      .orderBy('id');
  return {
    find: async (scope, projectId) => {
      if (scope.projectId !== null && scope.projectId !== projectId) return null;
      const row = await ofOrganization(scope.organizationId).where('id', '=', projectId).executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    defaultOf: async (organizationId) => {
      const row = await ofOrganization(organizationId).executeTakeFirst();
      if (row === undefined) throw new HoldfastError('not_found', 'The organization has no project');
      return present(row);
    },
    list: async (organizationId) => (await ofOrganization(organizationId).execute()).map(present),
    rename: async (organizationId, id, name) => {
      await db
        .updateTable('projects')
        .set({ name })
        .where('organization_id', '=', organizationId)
        .where('id', '=', id)
        .execute();
    },
    create: async (organizationId, { id = newId('prj'), name }) => {
      const values = { id, organization_id: organizationId, name, created_at: clock() };
      await db
        .insertInto('projects')
        .values(values)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      const row = await ofOrganization(organizationId).where('id', '=', id).executeTakeFirst();
      if (row === undefined)
        throw new HoldfastError('already_exists', 'Another organization has a project of that id; choose another id');
      return present(row);
    },
  };
}
