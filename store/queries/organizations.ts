import type { Selectable } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import type { Plan } from '../../contract/limits.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { findOne } from '../scope.ts';
import type { Vault } from '../vault/vault.ts';

/** An organization: a tenant with its own data key and plan. */
interface OrganizationRecord {
  id: string;
  name: string;
  plan: Plan;
  createdAt: Date;
  /** An owner has turned projects off: there is only the default project. */
  projectsDisabled: boolean;
  /** Maximum number of connections; null for no limit. */
  maxAuthConnections: number | null;
}

/** Organizations. */
export interface OrganizationQueries {
  find(organizationId: string): Promise<OrganizationRecord | null>;
  /** Creates an organization and its data key. Returns the existing one if the id is taken. */
  create(input: { id: string; name: string; plan: Plan }): Promise<OrganizationRecord>;
  setPlan(organizationId: string, plan: Plan): Promise<void>;
  /** Applies to new connections; existing ones stay. */
  setMaxAuthConnections(organizationId: string, limit: number | null): Promise<void>;
  /** Turns projects on or off. Throws `operation_failed` while a project other than the default one is active. */
  setProjectsDisabled(organizationId: string, disabled: boolean): Promise<void>;
}

/** Queries of organizations. */
export function createOrganizationQueries(db: Db, vault: Vault, clock: () => Date): OrganizationQueries {
  const find = (id: string): Promise<OrganizationRecord | null> =>
    findOne(db.selectFrom('organizations').selectAll().where('id', '=', id), present);
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
      return (await find(id)) ?? { id, name, plan, createdAt: now, projectsDisabled: false, maxAuthConnections: null };
    },
    setPlan: async (id, plan) => {
      await db.updateTable('organizations').set({ plan }).where('id', '=', id).execute();
    },
    setMaxAuthConnections: async (id, limit) => {
      await db.updateTable('organizations').set({ max_auth_connections: limit }).where('id', '=', id).execute();
    },
    setProjectsDisabled: (id, disabled) =>
      db.transaction().execute(async (trx) => {
        // Creating or unarchiving a project locks this row too: {@link lockProjectsEnabled}.
        await trx.updateTable('organizations').set({ projects_disabled: disabled }).where('id', '=', id).execute();
        if (!disabled) return;
        const active = await trx
          .selectFrom('projects')
          .select('name')
          .where('organization_id', '=', id)
          .where('archived_at', 'is', null)
          .where('deleted_at', 'is', null)
          .limit(2)
          .execute();
        if (active.length > 1)
          throw new HoldfastError(
            'operation_failed',
            'There are other projects than the default one; archive or delete them before projects are turned off',
          );
      }),
  };
}

/** Keeps projects enabled until the transaction ends. Throws `projects_disabled` if they are off. */
export async function lockProjectsEnabled(trx: Db, organizationId: string): Promise<void> {
  const { projects_disabled: disabled } = await trx
    .selectFrom('organizations')
    .select('projects_disabled')
    .where('id', '=', organizationId)
    .forShare()
    .executeTakeFirstOrThrow();
  if (disabled) throw new HoldfastError('projects_disabled', PROJECTS_DISABLED);
}

/** The error message while projects are off. */
export const PROJECTS_DISABLED =
  'Projects are off for this organization; omit the project, or have an owner enable them with PATCH /org/entitlements';

/**
 * Called after inserting a connection, in the same transaction: throws `limit_reached` if it exceeds the limit. Concurrent
 * inserts are counted one after another.
 */
export async function enforceConnectionLimit(trx: Db, organizationId: string): Promise<void> {
  const organization = trx.selectFrom('organizations').select('max_auth_connections').where('id', '=', organizationId);
  if ((await organization.executeTakeFirst())?.max_auth_connections === null) return;
  const limit = (await organization.forNoKeyUpdate().executeTakeFirst())?.max_auth_connections ?? null;
  if (limit === null) return;
  const { count } = await trx
    .selectFrom('connections')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('deleted_at', 'is', null)
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  if (count > limit) throw connectionLimitReached(limit);
}

/** The error for a connection beyond the organization's limit. */
export function connectionLimitReached(limit: number): HoldfastError {
  return new HoldfastError(
    'limit_reached',
    `The organization has reached its limit of ${limit} connections; delete one, or raise max_auth_connections with PATCH /org/limits`,
  );
}

function present(row: Selectable<Database['organizations']>): OrganizationRecord {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    createdAt: row.created_at,
    projectsDisabled: row.projects_disabled,
    maxAuthConnections: row.max_auth_connections,
  };
}
