import type { Plan } from '../../contract/limits.ts';
import type { Db } from '../database.ts';
import type { Vault } from '../vault/vault.ts';

/** An organization: the tenant, the owner of a data key, the bearer of a plan. */
export interface OrganizationRecord {
  id: string;
  name: string;
  plan: Plan;
  createdAt: Date;
}

/** Organizations. */
export interface OrganizationQueries {
  find(organizationId: string): Promise<OrganizationRecord | null>;
  /** Makes an organization and its data key. Answers the existing one when the id is taken. */
  create(input: { id: string; name: string; plan: Plan }): Promise<OrganizationRecord>;
  setPlan(organizationId: string, plan: Plan): Promise<void>;
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
