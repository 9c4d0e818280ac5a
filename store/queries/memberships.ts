import { sql } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import type { Role } from '../../contract/people.ts';
import type { Db } from '../database.ts';
import { readPage, type Page, type PageRequest } from '../scope.ts';

/** A person in an organization. */
export interface MemberRecord {
  user: { id: string; email: string; name: string | null };
  role: Role;
  createdAt: Date;
}

/** Who belongs to an organization, and as what. */
export interface MembershipQueries {
  /** A page of an organization's members, by e-mail address. */
  list(organizationId: string, page: PageRequest): Promise<Page<MemberRecord>>;
  /** Null for who is no member. */
  find(organizationId: string, who: { userId: string } | { email: string }): Promise<MemberRecord | null>;
  /** The owner whose e-mail address comes first; null where only keys use the organization. */
  firstOwner(organizationId: string): Promise<MemberRecord | null>;
  /** The organizations of a person, by name. */
  ofUser(userId: string): Promise<{ id: string; name: string; role: Role }[]>;
  /** Makes somebody a member. Who is one already keeps the role. */
  add(organizationId: string, userId: string, role: Role): Promise<void>;
  /** Null for who is no member. Throws `operation_failed` for the last owner. */
  setRole(organizationId: string, userId: string, role: Role): Promise<MemberRecord | null>;
  /** Ends a membership and its sessions. False for who is no member. Throws `operation_failed` for the last owner. */
  remove(organizationId: string, userId: string): Promise<boolean>;
  /** True when an owner of the organization can sign in by a password or a passkey. */
  hasReachableOwner(organizationId: string): Promise<boolean>;
}

/** Queries of memberships. */
export function createMembershipQueries(db: Db, clock: () => Date): MembershipQueries {
  const members = (organizationId: string) =>
    db
      .selectFrom('memberships')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .select(['users.id', 'users.email', 'users.name', 'memberships.role', 'memberships.created_at'])
      .where('memberships.organization_id', '=', organizationId);

  /** Runs a change after which some owner must be left; changes of one organization wait for each other. */
  const keepingAnOwner = <Result>(organizationId: string, change: (trx: Db) => Promise<Result>): Promise<Result> =>
    db.transaction().execute(async (trx) => {
      await sql`select id from organizations where id = ${organizationId} for update`.execute(trx);
      const result = await change(trx);
      // Who is no member is not found, also where an organization has no owner: one that only keys use.
      if (result === null || result === false) return result;
      const owner = await trx
        .selectFrom('memberships')
        .select('user_id')
        .where('organization_id', '=', organizationId)
        .where('role', '=', 'owner')
        .limit(1)
        .executeTakeFirst();
      if (owner === undefined)
        throw new HoldfastError('operation_failed', 'An organization keeps an owner; make somebody else one first');
      return result;
    });

  return {
    list: (organizationId, page) =>
      readPage(members(organizationId).orderBy('users.email').orderBy('users.id'), page, presentMember),
    find: async (organizationId, who) => {
      const row = await (
        'userId' in who
          ? members(organizationId).where('users.id', '=', who.userId)
          : members(organizationId).where('users.email', '=', who.email)
      ).executeTakeFirst();
      return row === undefined ? null : presentMember(row);
    },
    firstOwner: async (organizationId) => {
      const row = await members(organizationId)
        .where('memberships.role', '=', 'owner')
        .orderBy('users.email')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? null : presentMember(row);
    },
    ofUser: (userId) =>
      db
        .selectFrom('memberships')
        .innerJoin('organizations', 'organizations.id', 'memberships.organization_id')
        .select(['organizations.id', 'organizations.name', 'memberships.role'])
        .where('memberships.user_id', '=', userId)
        .orderBy('organizations.name')
        .orderBy('organizations.id')
        .execute(),
    add: async (organizationId, userId, role) => {
      await db
        .insertInto('memberships')
        .values({ organization_id: organizationId, user_id: userId, role, created_at: clock() })
        .onConflict((conflict) => conflict.columns(['organization_id', 'user_id']).doNothing())
        .execute();
    },
    setRole: (organizationId, userId, role) =>
      keepingAnOwner(organizationId, async (trx) => {
        await trx
          .updateTable('memberships')
          .set({ role })
          .where('organization_id', '=', organizationId)
          .where('user_id', '=', userId)
          .execute();
        const row = await trx
          .selectFrom('memberships')
          .innerJoin('users', 'users.id', 'memberships.user_id')
          .select(['users.id', 'users.email', 'users.name', 'memberships.role', 'memberships.created_at'])
          .where('memberships.organization_id', '=', organizationId)
          .where('users.id', '=', userId)
          .executeTakeFirst();
        return row === undefined ? null : presentMember(row);
      }),
    remove: (organizationId, userId) =>
      keepingAnOwner(organizationId, async (trx) => {
        const { numDeletedRows } = await trx
          .deleteFrom('memberships')
          .where('organization_id', '=', organizationId)
          .where('user_id', '=', userId)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
    hasReachableOwner: async (organizationId) => {
      const row = await members(organizationId)
        .where('memberships.role', '=', 'owner')
        .where((eb) =>
          eb.or([
            eb('users.password_hash', 'is not', null),
            eb('users.oidc_subject', 'is not', null),
            eb.exists(
              eb
                .selectFrom('user_passkeys')
                .select('user_passkeys.id')
                .whereRef('user_passkeys.user_id', '=', 'users.id'),
            ),
          ]),
        )
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

function presentMember(row: {
  id: string;
  email: string;
  name: string | null;
  role: Role;
  created_at: Date;
}): MemberRecord {
  return { user: { id: row.id, email: row.email, name: row.name }, role: row.role, createdAt: row.created_at };
}
