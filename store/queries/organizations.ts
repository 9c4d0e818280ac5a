import type { Selectable } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import type { Plan } from '../../contract/limits.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import type { Vault } from '../vault/vault.ts';

/** An organization: the tenant, the owner of a data key, the bearer of a plan. */
export interface OrganizationRecord {
  id: string;
  name: string;
  plan: Plan;
  createdAt: Date;
  /** An owner has turned projects off: there is the default one alone. */
  projectsDisabled: boolean;
  /** Most connections that it may have; null for no bound. */
  maxAuthConnections: number | null;
}

/** Organizations. */
export interface OrganizationQueries {
  find(organizationId: string): Promise<OrganizationRecord | null>;
  /** Makes an organization and its data key. Answers the existing one when the id is taken. */
  create(input: { id: string; name: string; plan: Plan }): Promise<OrganizationRecord>;
  setPlan(organizationId: string, plan: Plan): Promise<void>;
  /** Holds for connections that are made from now on; those that are there stay. */
  setMaxAuthConnections(organizationId: string, limit: number | null): Promise<void>;
  /** Turns projects on or off. Throws `operation_failed` while another project than the default one is active. */
  setProjectsDisabled(organizationId: string, disabled: boolean): Promise<void>;
}

/** Queries of organizations. */
export function createOrganizationQueries(db: Db, vault: Vault, clock: () => Date): OrganizationQueries {
  const find = async (id: string): Promise<OrganizationRecord | null> => {
    const row = await db.selectFrom('organizations').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : present(row);
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
        // Whoever makes a project or takes one back holds this row, too: {@link holdProjectsOn}.
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

/** Has projects stay on until the transaction ends. Throws `projects_disabled` where they are off. */
export async function holdProjectsOn(trx: Db, organizationId: string): Promise<void> {
  const { projects_disabled: disabled } = await trx
    .selectFrom('organizations')
    .select('projects_disabled')
    .where('id', '=', organizationId)
    .forShare()
    .executeTakeFirstOrThrow();
  if (disabled) throw new HoldfastError('projects_disabled', PROJECTS_OFF);
}

/** What is said where an owner has turned projects off. */
export const PROJECTS_OFF =
  'Projects are off for this organization; name none, or have an owner turn them on by PATCH /org/entitlements';

/**
 * Called with a new connection in the transaction: throws `limit_reached` when it is one too many. Those who insert at the same time
 * count one after another, each with what the one before has left.
 */
export async function refuseConnectionsBeyondLimit(trx: Db, organizationId: string): Promise<void> {
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

/** The refusal of a connection beyond what the organization may have. */
export function connectionLimitReached(limit: number): HoldfastError {
  const rule = `The organization may have ${limit} connections, and has them; delete one`;
  return new HoldfastError('limit_reached', `${rule}, or raise max_auth_connections by PATCH /org/limits`);
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
